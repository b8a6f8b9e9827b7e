/**
 * Writes a history that another provider began in the form that the next provider accepts: after a handoff, a fallback, or a
 * change of the model.
 *
 * FOREIGN1. The ids of calls and the names of tools are mapped one to one to what the provider accepts. A call and its result
 *           keep one id. An accepted id stays as it is. The same id is mapped alike in every request, unless its new form
 *           is the id of another call.
 * FOREIGN2. For a provider that accepts system messages only at the beginning, a later one is sent as a message of the user.
 * FOREIGN3. For a provider that accepts no message of the user behind results, a short message of the assistant is between them.
 *
 * @source The APIs of Mistral (ids), Anthropic, OpenAI (ids and names) and Google (names, system messages)
 */
import type { LanguageModelV4Message } from "@ai-sdk/provider"

/** What a provider accepts. */
interface Accepted {
  readonly id?: RegExp
  /** The most characters of a new id. */
  readonly characters: number
  readonly name?: RegExp
  readonly systemFirst?: boolean
  /** Whether a message of the user must not follow results. */
  readonly answersResults?: boolean
}

const name = /^[a-zA-Z0-9_-]{1,64}$/
const googleName = /^[\w.:-]{1,64}$/
const plain: Accepted = { id: name, characters: 64, name }

const accepted: Readonly<Record<string, Accepted>> = {
  mistral: { id: /^[a-zA-Z0-9]{9}$/, characters: 9, name, answersResults: true },
  anthropic: plain,
  bedrock: plain,
  openai: { id: /^.{1,64}$/s, characters: 64, name },
  azure: { id: /^.{1,64}$/s, characters: 64, name },
  google: { characters: 64, name: googleName, systemFirst: true },
  vertex: { characters: 64, name: googleName, systemFirst: true }
}

/** The prompt in the form that the provider accepts. */
export const acceptedBy = (
  prompt: Array<LanguageModelV4Message>,
  providerName: string
): Array<LanguageModelV4Message> => {
  const rules = Object.hasOwn(accepted, providerName) ? accepted[providerName] : undefined
  if (rules === undefined) return prompt
  const ordered = rules.systemFirst === true ? withSystemFirst(prompt) : prompt
  const messages = rules.answersResults === true ? withAnsweredResults(ordered) : ordered
  const parts = messages.flatMap(ownParts)
  const ids = mapping(new Set(parts.map(({ toolCallId }) => toolCallId)), rules.id, (id, attempt) =>
    digest(`${attempt}${id}`).slice(0, Math.min(rules.characters, 9))
  )
  const names = mapping(new Set(parts.map(({ toolName }) => toolName)), rules.name, (given, attempt) => {
    const end = attempt === 0 ? "" : `_${attempt}`
    return `${given.replaceAll(/[^a-zA-Z0-9_-]+/g, "_").slice(0, 64 - end.length) || "tool"}${end}`
  })
  if (ids.size === 0 && names.size === 0) return messages
  const renamed = <Part extends { readonly type: string }>(part: Part): Part => {
    if (!isOwn(part)) return part
    const { toolCallId, toolName } = part
    return { ...part, toolCallId: ids.get(toolCallId) ?? toolCallId, toolName: names.get(toolName) ?? toolName }
  }
  return messages.map((message): LanguageModelV4Message => {
    switch (message.role) {
      case "assistant":
        return {
          ...message,
          content: message.content.map((part) => (part.type === "tool-call" ? renamed(part) : part))
        }
      case "tool":
        return { ...message, content: message.content.map(renamed) }
      default:
        return message
    }
  })
}

interface OwnPart {
  readonly toolCallId: string
  readonly toolName: string
}

/** Whether a part is a call of the program, or its result. Calls that the provider runs have ids of its own. */
const isOwn = (part: object): part is OwnPart => {
  const { type, providerExecuted } = part as { readonly type?: string; readonly providerExecuted?: boolean }
  return (type === "tool-call" && providerExecuted !== true) || type === "tool-result"
}

const ownParts = (message: LanguageModelV4Message): ReadonlyArray<OwnPart> => {
  if (message.role === "tool") return message.content.filter((part) => part.type === "tool-result")
  if (message.role !== "assistant") return []
  return message.content.filter((part) => part.type === "tool-call").filter(isOwn)
}

/** The new forms of what is not accepted, each different from all others (FOREIGN1). */
const mapping = (
  all: ReadonlySet<string>,
  form: RegExp | undefined,
  candidate: (text: string, attempt: number) => string
): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  if (form === undefined) return found
  const valid = new Set([...all].filter((one) => form.test(one)))
  for (const text of all) {
    if (form.test(text)) continue
    let attempt = 0
    let made = candidate(text, attempt)
    while (valid.has(made)) made = candidate(text, ++attempt)
    valid.add(made)
    found.set(text, made)
  }
  return found
}

/** Fourteen letters and digits that depend on each character of a text. */
const digest = (text: string): string => {
  const half = (seed: number): string => {
    let hash = seed
    for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
    return (hash >>> 0).toString(36).padStart(7, "0")
  }
  const [first, second] = [half(0x811c9dc5), half(0x9e3779b9)]
  return Array.from({ length: first.length }, (_, at) => `${first.charAt(at)}${second.charAt(at)}`).join("")
}

/** A later system message as a message of the user (FOREIGN2). */
const withSystemFirst = (prompt: Array<LanguageModelV4Message>): Array<LanguageModelV4Message> => {
  const first = prompt.findIndex(({ role }) => role !== "system")
  return prompt.map((message, at) =>
    message.role === "system" && at > first && first !== -1
      ? { role: "user", content: [{ type: "text", text: `System message: ${message.content}` }] }
      : message
  )
}

/** A message of the assistant before each message of the user that follows results (FOREIGN3). */
const withAnsweredResults = (prompt: Array<LanguageModelV4Message>): Array<LanguageModelV4Message> =>
  prompt.flatMap((message, at): Array<LanguageModelV4Message> =>
    message.role === "user" && prompt[at - 1]?.role === "tool"
      ? [{ role: "assistant", content: [{ type: "text", text: "I have the results." }] }, message]
      : [message]
  )
