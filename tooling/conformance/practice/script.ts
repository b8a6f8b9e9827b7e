/** Reads the words of a scene's script, tools, thread, hooks and permissions. */
import { askUser, tool, type TroupeOptions } from "@troupe/chat"
import { Message } from "@troupe/chat/messages"
import type { Hooks } from "@troupe/chat/tools"
import { fieldsOf, isFields, listOf, textOf } from "../runner/fields.ts"
import { finishPart } from "./models.ts"
import { countOf, meaningOf, splitAt, type Table } from "./words.ts"

/** A picture as base64 text: a PNG's first bytes, and zeros. */
const picture = (characters: string): string => "iVBORw0KGgo".padEnd(countOf(characters), "A")

const partWords: Table<ReadonlyArray<unknown>> = {
  "wait {n} ms": (ms) => [{ wait: countOf(ms ?? "") }],
  "call (?:(\\d+) )?{w}(?: with (\\{.*\\}))?": (id, toolName, input) => [
    { type: "tool-call", toolCallId: id || `c-${toolName}`, toolName, input: input || '{"input":"go"}' }
  ],
  "no text": () => [],
  "text(?: {q})?": (text) => [{ type: "text-delta", id: "t", delta: text || "ok" }],
  "reasoning {q}": (delta) => [{ type: "reasoning-delta", id: "r", delta }],
  "an? (?:PNG|image|picture) of {n} base64 characters": (count = "") => [
    { type: "file", mediaType: "image/png", data: { type: "data", data: picture(count) } }
  ],
  "finish {w}": (reason = "") => [finishPart(reason.replace("_", "-"))],
  "hangs?": () => ["HANG"],
  cut: () => ["CUT"]
}

/** The parts of a reply: a list of words, or words with commas. A reply without an end finishes with `stop`. */
export const replyOf = (reply: unknown): ReadonlyArray<unknown> => {
  const words = [reply].flat().flatMap((word) => splitAt(textOf(word), /,\s+(?:then\s+)?/))
  const parts = words.flatMap((word) => meaningOf(partWords, word, "word of a reply"))
  return words.some((word) => /^(?:finish|hang|cut)/.test(word)) ? parts : [...parts, finishPart("stop")]
}

/** The names of the tools that scripts call. */
export const calledIn = (...scripts: ReadonlyArray<unknown>): ReadonlyArray<string> =>
  [...JSON.stringify(scripts).matchAll(/\bcall (?:\d+ )?([\w-]+)/g)].map(([, name = ""]) => name)

const toolWords: Table<Readonly<Record<string, unknown>>> = {
  "manual(?:: true)?": () => ({ manual: true }),
  "asks the user: {q}": (question = "") => ({ returns: askUser(question) }),
  "returns an? (?:PNG|image|picture) of {n} base64 characters": (count = "") => ({
    returns: [{ type: "image", image: { base64: picture(count), mediaType: "image/png" } }]
  }),
  "returns {q}": (returns) => ({ returns }),
  "throws {q}": (throws) => ({ throws })
}

/** One tool, in words or fields; each run of its handler calls `run`. */
export const toolOf = (
  name: string,
  described: unknown,
  run: (args: unknown) => void
): NonNullable<TroupeOptions["tools"]>[number] => {
  const words = isFields(described) ? described : meaningOf(toolWords, textOf(described), "tool")
  const { returns, throws, provider, parameters, manual } = words
  const id = textOf(fieldsOf(provider)["id"]) as `${string}.${string}`
  const declared = { id, args: fieldsOf(fieldsOf(provider)["args"]) }
  if (provider !== undefined && returns === undefined && throws === undefined)
    return { type: "provider", name, ...declared }
  const common = {
    name,
    ...(provider === undefined ? {} : { provider: declared }),
    ...(parameters === undefined ? {} : { parameters: fieldsOf(parameters) })
  }
  if (manual === true) return tool({ ...common, manual })
  const results = typeof returns === "string" ? splitAt(returns, /,\s+then\s+/) : [returns]
  let runs = 0
  const execute = (args: unknown): unknown => {
    run(args)
    if (throws !== undefined) throw new Error(textOf(throws))
    return results[Math.min(runs++, results.length - 1)]
  }
  return tool({ ...common, execute })
}

/** The messages of a thread in words; a result answers the last call. */
export const threadOf = (words: unknown): ReadonlyArray<Message.Message> => {
  let last = ""
  const table: Table<Message.Message> = {
    "assistant: call id {q}, tool {w}": (id = "", name = "") => {
      last = id
      return Message.assistant("", [{ id, name, arguments: {}, rawArguments: "{}" }])
    },
    "tool result(?: of it)?(?:: {q})?": (text) => Message.toolResult(last, text || "ok"),
    "user:? {q}": (text = "") => Message.user(text),
    "system:? {q}": (text = "") => Message.system(text),
    "assistant:? {q}": (text = "") => Message.assistant(text)
  }
  return listOf(words).map((word) => meaningOf(table, textOf(word), "message"))
}

const hookWords: Table<unknown> = {
  "inject an? (system|user) message": (role) => ({ type: "inject", messages: [{ role, content: "It is Monday." }] }),
  halt: () => ({ type: "halt", reason: "halted" })
}

/** The hooks of an input: events, and their answers in words. */
export const hooksOf = (words: unknown): Hooks =>
  Object.fromEntries(
    Object.entries(fieldsOf(words)).map(([event, answer]) => {
      const meant = meaningOf(hookWords, textOf(answer), "hook")
      return [event, [() => meant]]
    })
  ) as Hooks

const askWords: Table<(name: string) => "allow" | "suspend" | "deny"> = {
  "(suspend|deny) all(?: but {q})?":
    (answer, free = "") =>
    (name) =>
      free.split(/,\s*|\s+and\s+/).includes(name) ? "allow" : (answer as "suspend" | "deny")
}

/** Who decides about calls, by the names of their tools. */
export const askOf = (words: unknown) => meaningOf(askWords, textOf(words), "permission")
