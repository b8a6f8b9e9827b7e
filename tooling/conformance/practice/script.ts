/** Reads the words of a scene's script, tools, thread, hooks and permissions. */
import { askUser, tool, type TroupeOptions } from "@troupe/chat"
import { Message, type ToolCall } from "@troupe/chat/messages"
import { fieldsOf, isFields, listOf, textOf } from "../runner/json.ts"
import { finishPart } from "./models.ts"
import { countOf, meaningOf, splitAt, type Table } from "./words.ts"

/** A picture as base64 text: a PNG's first bytes, and zeros. */
const picture = (characters: string): string => "iVBORw0KGgo".padEnd(countOf(characters), "A")

const fileOf = (data: string) => ({ type: "file", mediaType: "image/png", data: { type: "data", data } })
const imageOf = (count: string) => ({ type: "image", image: { base64: picture(count), mediaType: "image/png" } })

/** A call with its arguments as text. */
export const callOf = (id: string, toolName: string, input: string) => ({
  type: "tool-call",
  toolCallId: id,
  toolName,
  input
})

const partWords: Table<unknown> = {
  "wait {n} ms": (ms) => ({ wait: countOf(ms) }),
  "call (?:(\\d+) )?{w}(?: with (\\{.*\\}))?": (id, name, json) =>
    callOf(id || `c-${name}`, name, json || '{"input":"go"}'),
  "text {q}": (text) => ({ type: "text-delta", id: "t", delta: text }),
  "reasoning {q}": (delta) => ({ type: "reasoning-delta", id: "r", delta }),
  "an? (?:PNG|image|picture) of {n} base64 characters": (count) => fileOf(picture(count)),
  "finish {w}": (reason) => finishPart(reason.replace("_", "-")),
  "hangs?": () => "HANG",
  cut: () => "CUT"
}

/** The parts of a reply: a list of words, or words with commas. A reply without an end finishes with `stop`. */
export const replyOf = (reply: unknown): ReadonlyArray<unknown> => {
  const words = [reply].flat().flatMap((word) => splitAt(textOf(word), /,\s+(?:then\s+)?/))
  const said = words.filter((word) => word !== "no text").map((word) => (word === "text" ? "text ok" : word))
  const parts = said.map((word) => meaningOf(partWords, word))
  return words.some((word) => /^(?:finish|hang|cut)/.test(word)) ? parts : [...parts, finishPart("stop")]
}

const toolWords: Table<Readonly<Record<string, unknown>>> = {
  "manual(?:: true)?": () => ({ manual: true }),
  "asks the user: {q}": (question) => ({ returns: askUser(question) }),
  "returns an? (?:PNG|image|picture) of {n} base64 characters": (count) => ({ returns: [imageOf(count)] }),
  "returns {q}": (returns) => ({ returns }),
  "throws {q}": (throws) => ({ throws })
}

type AnyTool = NonNullable<TroupeOptions["tools"]>[number]

/** One tool, in words or fields. A handler calls `run` first; `returns: "a, then b"` is one result for each run. */
const toolOf = (name: string, described: unknown, run: (args: unknown) => void): AnyTool => {
  const words = isFields(described) ? described : meaningOf(toolWords, textOf(described))
  const { returns, throws, provider, parameters, manual } = words
  const { id, args } = fieldsOf(provider)
  const declared = { id: textOf(id) as `${string}.${string}`, args: fieldsOf(args) }
  const isRun = provider === undefined || "returns" in words || "throws" in words
  if (!isRun) return { type: "provider", name, ...declared }
  const own = provider === undefined ? { name } : { name, provider: declared }
  const common = parameters === undefined ? own : { ...own, parameters: fieldsOf(parameters) }
  if (manual === true) return tool({ ...common, manual })
  const results: Array<unknown> = typeof returns === "string" ? [...splitAt(returns, /,\s+then\s+/)] : [returns]
  const execute = (given: unknown): unknown => {
    run(given)
    if (throws !== undefined) throw new Error(textOf(throws))
    return results.length > 1 ? results.shift() : results[0]
  }
  return tool({ ...common, execute })
}

/** The tools of an input: those that it describes, and those that its scripts call, which return their names. */
export const toolsOf = (
  { tools, tool: single, script, parent, child }: Readonly<Record<string, unknown>>,
  run: (tool: string, args: unknown) => void
): ReadonlyArray<AnyTool> => {
  const called = JSON.stringify([script, parent, child]).matchAll(/\bcall (?:\d+ )?([\w-]+)/g)
  const names = Array.from(called, ([, name = ""]) => name).filter((name) => child === undefined || name !== "child")
  const usual = Object.fromEntries(names.map((name) => [name, `returns ${name}`]))
  const described = { ...usual, ...fieldsOf(tools), ...(single === undefined ? {} : { tool: single }) }
  return Object.entries(described).map(([name, words]) => toolOf(name, words, (args) => run(name, args)))
}

const messageWords: Table<Message.Message, [last: string]> = {
  "assistant: call id {q}, tool {w}": (_, id, name) => Message.assistant("", [{ id, name, arguments: {} }]),
  "tool result(?: of it)?(?:: {q})?": (last, text) => Message.toolResult(last, text || "ok"),
  "user:? {q}": (_, text) => Message.user(text),
  "assistant:? {q}": (_, text) => Message.assistant(text)
}

/** The messages of a thread in words; a result answers the last call. */
export const threadOf = (words: unknown): ReadonlyArray<Message.Message> =>
  listOf(words).reduce<ReadonlyArray<Message.Message>>((thread, word) => {
    const last = thread.at(-1)
    const id = last?.role === "assistant" ? last.toolCalls?.[0]?.id : undefined
    return [...thread, meaningOf(messageWords, textOf(word), id ?? "")]
  }, [])

const answerWords: Table<unknown> = {
  "inject an? (system|user) message": (role) => ({ type: "inject", messages: [{ role, content: "It is Monday." }] }),
  halt: () => ({ type: "halt", reason: "halted" })
}

const askWords: Table<string, [name: string]> = {
  "(suspend|deny) all(?: but {q})?": (name, answer, free) => (free.split(/,\s*/).includes(name) ? "allow" : answer)
}

/** The options of a Troupe that an input has in words: its hooks, by event, and who decides about calls. */
export const gateOf = ({ hooks, ask }: Readonly<Record<string, unknown>>): object => {
  const meant = Object.entries(fieldsOf(hooks)).map(([event, words]) => [event, meaningOf(answerWords, textOf(words))])
  const decide = (name: string) => meaningOf(askWords, textOf(ask), name)
  if (ask !== undefined) decide("")
  const permissions = { ask: ({ toolCall }: { readonly toolCall: ToolCall.ToolCall }) => decide(toolCall.name) }
  const called = Object.fromEntries(meant.map(([event, answer]) => [event, [() => answer]]))
  return { hooks: called, ...(ask === undefined ? {} : { permissions }) }
}
