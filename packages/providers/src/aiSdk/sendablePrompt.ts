/**
 * Leaves out of a prompt the parts that make its provider refuse the request, however the replies in it ended.
 *
 * PROMPT1. A prompt has no unpaired part: no reasoning without the part that followed it, no call of a provider without
 *          its result, and no result of a provider without its call. No message has blank text as its only content, and
 *          no broken or cancelled reply has reasoning. The thread keeps these parts.
 * PROMPT2. While the turn of a call goes on, the provider still has its result to come: such a call is sent.
 *
 * @source The APIs of Anthropic and OpenAI answer 400 to such requests
 */
import type { LanguageModelV4Message, SharedV4ProviderOptions } from "@ai-sdk/provider"

type AssistantPart = Extract<LanguageModelV4Message, { role: "assistant" }>["content"][number]

/** Whether a text has nothing but white space. */
export const isBlank = (text: string): boolean => text.trim() === ""

/**
 * The prompt without its unpaired parts. `goesOn` is whether the model is to continue its reply: the prompt ends with
 * results of its calls, or with replies that its provider paused (PAUSE1). `answered` are the calls of the provider whose approval
 * the prompt answers.
 */
export const sendable = (
  prompt: ReadonlyArray<LanguageModelV4Message>,
  goesOn: boolean,
  answered: Iterable<string> = []
): Array<LanguageModelV4Message> => {
  const alone = unpairedIn(prompt, new Set(answered))
  const lastUser = prompt.findLastIndex(({ role }) => role === "user")
  const lastAsked = prompt.findLastIndex(({ role }) => role !== "assistant")
  const unpaired = new Set<string>()
  const isUnpaired = (part: AssistantPart, isOpen: boolean): boolean => {
    if (part.type === "tool-result") return alone.has(part)
    if (part.type !== "tool-call" || isOpen || !alone.has(part)) return false
    unpaired.add(part.toolCallId)
    return true
  }
  return prompt.flatMap((message, at): Array<LanguageModelV4Message> => {
    switch (message.role) {
      case "system":
        return isBlank(message.content) ? [] : [message]
      case "user":
        return message.content.length === 0 ? [] : [message]
      case "tool":
        return [unpaired.size === 0 ? message : { ...message, content: message.content.map(withoutCaller(unpaired)) }]
      case "assistant": {
        const isOpen = goesOn && at > lastUser
        const paired = withoutUnpaired(message.content, (part) => isUnpaired(part, isOpen))
        const isPaused = isOpen && at > lastAsked
        const content = (isPaused ? paired : withoutLooseEnd(paired)).map(withoutCaller(unpaired))
        return content.length === 0 ? [] : [{ ...message, content }]
      }
    }
  })
}

/**
 * The calls that providers ran without a result, and the results without such a call. An `answered` call is not among them. Ids
 * repeat: each result belongs to the first call of its id that has none.
 */
const unpairedIn = (
  prompt: ReadonlyArray<LanguageModelV4Message>,
  answered: ReadonlySet<string>
): ReadonlySet<AssistantPart> => {
  const unpaired = new Set<AssistantPart>()
  const waiting = new Map<string, Array<AssistantPart>>()
  for (const message of prompt) {
    if (message.role !== "assistant") continue
    for (const part of message.content) {
      if (part.type === "tool-call" && part.providerExecuted === true) {
        waiting.set(part.toolCallId, [...(waiting.get(part.toolCallId) ?? []), part])
        if (!answered.has(part.toolCallId)) unpaired.add(part)
      } else if (part.type === "tool-result") {
        const call = waiting.get(part.toolCallId)?.shift()
        if (call === undefined) unpaired.add(part)
        else unpaired.delete(call)
      }
    }
  }
  return unpaired
}

const isReasoning = ({ type }: AssistantPart): boolean => type === "reasoning" || type === "reasoning-file"

/** Leaves out unpaired parts, each with the reasoning right before it. */
const withoutUnpaired = (
  parts: ReadonlyArray<AssistantPart>,
  isUnpaired: (part: AssistantPart) => boolean
): Array<AssistantPart> => {
  const kept: Array<AssistantPart> = []
  for (const part of parts) {
    if (!isUnpaired(part)) kept.push(part)
    else if (part.type === "tool-call") kept.splice(kept.findLastIndex((one) => !isReasoning(one)) + 1)
  }
  return kept
}

/** Leaves out reasoning that no content follows; a message without content has no parts. */
const withoutLooseEnd = (parts: ReadonlyArray<AssistantPart>): ReadonlyArray<AssistantPart> => {
  const last = parts.findLastIndex((part) => !isReasoning(part) && !(part.type === "text" && isBlank(part.text)))
  if (last === -1) return []
  const loose = parts.findIndex((part, at) => at > last && isReasoning(part))
  return loose === -1 ? parts : parts.slice(0, loose)
}

/** A part without the provider's data that names a call which is left out as its caller. */
const withoutCaller =
  (leftOut: ReadonlySet<string>) =>
  <Part extends { readonly type: string; readonly providerOptions?: SharedV4ProviderOptions }>(part: Part): Part => {
    if (leftOut.size === 0 || part.providerOptions === undefined) return part
    const options = Object.entries(part.providerOptions).map(([provider, { caller, ...data }]) => {
      const isKept = caller !== undefined && !isOf(caller, leftOut)
      return [provider, isKept ? { caller, ...data } : data] as const
    })
    return { ...part, providerOptions: Object.fromEntries(options) }
  }

const isOf = (caller: unknown, calls: ReadonlySet<string>): boolean =>
  typeof caller === "object" && caller !== null && Object.values(caller).some((id) => calls.has(String(id)))
