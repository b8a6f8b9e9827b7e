/** Reads the words of a scene's script, tools, thread and hooks. */
import { askUser, tool, type TroupeOptions } from "@troupe/chat"
import { Message } from "@troupe/chat/messages"
import type { HookAnswer, Hooks } from "@troupe/chat/tools"
import { fieldsOf, isFields, listOf, textOf } from "../runner/fields.ts"
import { finishPart, textParts } from "./models.ts"
import { countOf, meaningOf, type Phrases, splitAt, unquoted } from "./words.ts"

/** The text of a reply without one of its own. */
const usual = "ok"

/** A picture as base64 text: a PNG's first bytes, and zeros. */
const picture = (characters = "400"): string => "iVBORw0KGgo".padEnd(countOf(characters), "A")

const reasons: Readonly<Record<string, string>> = { tool_calls: "tool-calls", content_filter: "content-filter" }

const callPart = (id: string, toolName: string, input = '{"input":"go"}'): unknown => ({
  type: "tool-call",
  toolCallId: id,
  toolName,
  input
})

/** The parts of one word of a reply. */
const partWords: Phrases<ReadonlyArray<unknown>> = [
  [/^wait (?<ms>[\d,]+) ms$/, ({ ms }) => [{ wait: countOf(ms) }]],
  [
    /^call (?:(?<id>\d+) )?(?<name>[\w-]+)(?: with (?<json>\{.*\}))?$/,
    ({ id, name = "", json }) => [callPart(id ?? `c-${name}`, name, json)]
  ],
  [/^no text$/, () => []],
  [/^(?:says? )?text(?: (?<text>.+))?$/, ({ text }) => textParts(unquoted(text ?? usual))],
  [
    /^reasoning (?<text>.+)$/,
    ({ text = "" }) => [
      { type: "reasoning-start", id: "r" },
      { type: "reasoning-delta", id: "r", delta: unquoted(text) },
      { type: "reasoning-end", id: "r" }
    ]
  ],
  [
    /^an? (?<kind>PNG|JPEG|image|picture) of (?<count>[\d,]+) base64 characters$/i,
    ({ count }) => [{ type: "file", mediaType: "image/png", data: { type: "data", data: picture(count) } }]
  ],
  [/^finish (?<reason>[\w-]+)$/, ({ reason = "" }) => [finishPart(reasons[reason] ?? reason)]],
  [/^hangs?$/i, () => ["HANG"]],
  [/^(?:is )?cut(?: off)?$/i, () => ["CUT"]]
]

const ends = /^(?:finish|hang|(?:is )?cut)/i

/** The parts of a reply in words: a list of words, or words with commas. A reply without an end finishes with `stop`. */
export const replyOf = (reply: unknown): ReadonlyArray<unknown> => {
  const words = (Array.isArray(reply) ? reply.map(textOf) : [textOf(reply)]).flatMap((word) =>
    splitAt(word, /,\s+(?:then\s+)?/)
  )
  const parts = words.flatMap((word) => meaningOf(partWords, word, "word of a reply"))
  return words.some((word) => ends.test(word)) ? parts : [...parts, finishPart("stop")]
}

/** The names of the tools that a script calls. */
export const calledIn = (script: unknown): ReadonlyArray<string> =>
  [...JSON.stringify(script ?? []).matchAll(/\bcall (?:\d+ )?([\w-]+)/g)].map(([, name = ""]) => name)

/** A run of a handler. */
export interface Run {
  readonly tool: string
  readonly args: unknown
}

/** A tool in words: what its handler returns, or the options of a tool without a handler. */
const toolWords: Phrases<{ readonly returns: () => unknown } | { readonly manual: true }> = [
  [/^manual(?:: true)?$/, () => ({ manual: true })],
  [/^asks the user: (?<question>.+)$/, ({ question = "" }) => ({ returns: () => askUser(question) })],
  [
    /^returns an? (?:image|PNG|picture) of (?<count>[\d,]+) base64 characters$/i,
    ({ count }) => ({
      returns: () => [{ type: "image", image: { base64: picture(count), mediaType: "image/png" } }]
    })
  ],
  [
    /^throws (?<text>.+)$/,
    ({ text = "" }) => ({
      returns: () => {
        throw new Error(unquoted(text))
      }
    })
  ],
  [/^returns (?<text>.+)$/, ({ text = "" }) => ({ returns: () => unquoted(text) })]
]

type AnyTool = NonNullable<TroupeOptions["tools"]>[number]

/** One tool of an input; each run of its handler is added to `runs`. */
export const toolOf = (name: string, described: unknown, runs: Array<Run>): AnyTool => {
  const logged = (execute: (run: number) => unknown) => (args: unknown) => {
    runs.push({ tool: name, args })
    return execute(runs.filter((run) => run.tool === name).length - 1)
  }
  if (!isFields(described)) {
    const meant = meaningOf(toolWords, textOf(described), "tool")
    return "manual" in meant ? tool({ name, ...meant }) : tool({ name, execute: logged(meant.returns) })
  }
  const { returns, throws, provider, parameters, manual } = described
  const { id, args, name: declaredName } = fieldsOf(provider)
  const declared = { id: textOf(id) as `${string}.${string}`, args: fieldsOf(args) }
  if (provider !== undefined && returns === undefined && throws === undefined) {
    return { type: "provider", name: declaredName === undefined ? name : textOf(declaredName), ...declared }
  }
  const common = {
    name,
    ...(parameters === undefined ? {} : { parameters: fieldsOf(parameters) }),
    ...(provider === undefined ? {} : { provider: declared })
  }
  if (manual === true) return tool({ ...common, manual })
  const results = typeof returns === "string" ? splitAt(returns, /,\s+then\s+/) : [returns]
  return tool({
    ...common,
    execute: logged((run) => {
      if (throws !== undefined) throw new Error(textOf(throws))
      return results[Math.min(run, results.length - 1)]
    })
  })
}

/** A message of a thread, in words; a result answers the last call. */
export const threadOf = (words: unknown): ReadonlyArray<Message.Message> => {
  let last = "call"
  const phrases: Phrases<Message.Message> = [
    [/^user:? (?<text>.+)$/, ({ text = "" }) => Message.user(unquoted(text))],
    [/^system:? (?<text>.+)$/, ({ text = "" }) => Message.system(unquoted(text))],
    [
      /^assistant: call id (?<id>`.+`|\S+), tool (?<name>[\w-]+)$/,
      ({ id = "", name = "" }) => {
        last = unquoted(id)
        return Message.assistant("", [{ id: last, name, arguments: {}, rawArguments: "{}" }])
      }
    ],
    [/^tool result(?: of it)?(?:: (?<text>.+))?$/, ({ text }) => Message.toolResult(last, unquoted(text ?? usual))],
    [/^assistant:? (?<text>.+)$/, ({ text = "" }) => Message.assistant(unquoted(text))]
  ]
  return listOf(words).map((word) => meaningOf(phrases, textOf(word), "message"))
}

const hookWords: Phrases<HookAnswer> = [
  [/^inject an? system message$/, () => ({ type: "inject", messages: Message.system("It is Monday.") })],
  [/^inject an? user message$/, () => ({ type: "inject", messages: Message.user("It is Monday.") })],
  [/^halt$/, () => ({ type: "halt", reason: "stopped" })]
]

/** The hooks of an input: the event, and its answer in words. */
export const hooksOf = (words: unknown): Hooks =>
  Object.fromEntries(
    Object.entries(fieldsOf(words)).map(([event, answer]) => {
      const meant = meaningOf(hookWords, textOf(answer), "hook")
      return [event, [() => meant]]
    })
  ) as Hooks
