/**
 * The embedded model: plans real tool calls from the user's text, and answers from their results.
 *
 * **Details**: it uses only the thread of the request. A text after a tool's question is the answer to it.
 *
 * @module
 */
import { Fake } from "@troupe/chat"
import { Message, type ToolCall } from "@troupe/chat/messages"
import type { Adapter, Request } from "@troupe/chat/models"
import { type AnsweredCall, describeCall, foundPaths, outcomeOf } from "./answers.ts"
import { plan, type PlannedCall } from "./planner.ts"
import { ofScout, scouted } from "./scoutScript.ts"
import { suggestions } from "./suggestions.ts"
import { researched } from "./teamScript.ts"

/** The options of the scripted model. */
export interface ScriptedModelOptions {
  /** The folder with the files. Default: none. */
  readonly folder?: string | undefined
  /** Milliseconds between two words; 0 for none. */
  readonly wordDelayMs: number
}

/** The reply to an unknown request: what a person can say to a program with these tools. */
export const abilities = (tools: ReadonlySet<string>): string =>
  [
    "I am a small scripted model, so that you can see Troupe work without an API key. Try one of these, or several at once:",
    "",
    ...suggestions.flatMap(({ text, tool }) => (tool === undefined || tools.has(tool) ? [`- ${text}`] : [])),
    "",
    "With an API key in the environment a real model answers instead."
  ].join("\n")

const story = [
  "Once there was a lighthouse keeper who wrote down every ship that passed.",
  "One night a ship passed that was in no register, and he wrote it down all the same.",
  "In the morning the line was gone; in the evening the ship came back.",
  "He asked its name over the water. It answered with his own.",
  "So he lit the lamp twice, as one does for friends, and the fog took both of them kindly.",
  "People say the lamp still lights twice when somebody is expected."
].join(" ")

/** The scripted model as an adapter. */
export const scriptedModel = ({ folder = "", wordDelayMs }: ScriptedModelOptions): Adapter.Adapter => {
  const fake = Fake.make({ respond: (request) => script(respond(request, folder), request, wordDelayMs) })
  return { name: "scripted", stream: fake.stream }
}

/** The model's reply: a text, and its calls, if any. */
export interface Reply {
  readonly text: string
  readonly calls: ReadonlyArray<ToolCall.ToolCall>
}

/** The model's answer to a request. */
export const respond = (request: Pick<Request, "messages" | "tools">, folder: string): Reply => {
  const scout = scouted(request.messages)
  if (scout !== undefined) return { text: scout.text, calls: numbered(scout.calls, request.messages) }
  const turn = readTurn(request.messages)
  const aboutScout = ofScout(turn.asked)
  if (aboutScout !== undefined) return { text: aboutScout, calls: [] }
  const known = new Set(request.tools.map((declared) => declared.name))
  const results = turn.steps.flat().map(({ content }) => saidBy(content))
  const notes = researched(turn.asked, turn.answer === undefined ? results : [turn.answer])
  if (notes !== undefined) return { text: notes.text, calls: numbered(notes.calls, request.messages) }
  const requested = plan(turn.asked)
  const missing = [...new Set(requested.calls.filter((call) => !known.has(call.name)).map((call) => call.name))]
  const apology = missing.length === 0 ? [] : [`I have no ${missing.join(", ")} here, so I leave that part out.`]
  if (turn.answer !== undefined) {
    const said = turn.steps.flat().map((call) => describeCall(call, folder))
    const thanks = `You answered my question with "${turn.answer}". I have noted it, and being a script, I do nothing more with it.`
    return { text: [...said, thanks].join("\n\n"), calls: [] }
  }
  const [first, ...later] = turn.steps
  if (first === undefined) {
    const calls = requested.calls.filter((call) => known.has(call.name))
    if (calls.length > 0) return { text: leadIn(calls.length), calls: numbered(calls, request.messages) }
    return { text: apology.length > 0 ? apology.join("") : unplanned(turn.asked, known), calls: [] }
  }
  if (requested.readFound && later.length === 0 && known.has("read_text_file")) {
    const found = first
      .filter((call) => call.name === "search_files")
      .flatMap((call) => foundPaths(call.content, folder))
    const files = found.filter((path) => /\.\w+$/.test(path)).slice(0, 3)
    const calls = files.map((path) => ({ name: "read_text_file", arguments: { path } }))
    if (calls.length > 0) return { text: leadIn(calls.length), calls: numbered(calls, request.messages) }
  }
  return { text: [...turn.steps.flat().map((call) => describeCall(call, folder)), ...apology].join("\n\n"), calls: [] }
}

/** The part of a thread that belongs to the current question. */
interface ReadTurn {
  readonly asked: string
  /** The user's answer to a tool's question, when the thread ends with it. */
  readonly answer: string | undefined
  readonly steps: ReadonlyArray<ReadonlyArray<AnsweredCall>>
}

const readTurn = (messages: ReadonlyArray<Message.Message>): ReadTurn => {
  const last = messages.findLastIndex((message) => message.role === "user")
  const before = messages[last - 1]
  const answers = before?.role === "assistant" && before.metadata?.["ask_user"] === true
  const start = answers ? messages.findLastIndex((message, index) => index < last && message.role === "user") : last
  const part = messages.slice(start + 1)
  // A result of a researcher ends with its id, which a reply leaves out.
  const contentOf = (message: Message.Message): string => Message.text(message).replace(/\s*\[agent: .+\]$/u, "")
  const results = new Map(
    part.flatMap((message) => (message.role === "tool" ? [[message.toolCallId, contentOf(message)] as const] : []))
  )
  const steps = part.flatMap((message) =>
    message.role === "assistant" && message.toolCalls !== undefined
      ? [
          message.toolCalls
            .filter((call) => !answers || call.name !== "ask")
            .map((call) => ({ name: call.name, arguments: call.arguments ?? {}, content: results.get(call.id) ?? "" }))
        ]
      : []
  )
  return { asked: textOf(messages[start]), answer: answers ? textOf(messages[last]) : undefined, steps }
}

const textOf = (message: Message.Message | undefined): string => (message === undefined ? "" : Message.text(message))

const leadIn = (calls: number): string => (calls === 1 ? "" : `I will do these ${calls} things side by side.`)

/** The reply to a request without calls. */
const unplanned = (asked: string, tools: ReadonlySet<string>): string => {
  if (/\bstory\b/i.test(asked)) return story
  const isGreeting = /^(?:hi|hello|hey|good (?:morning|day|evening))\b/i.test(asked.trim())
  return isGreeting ? `Hello! ${abilities(tools)}` : abilities(tools)
}

/** The text of a result, or its error. */
const saidBy = (content: string): string => {
  const outcome = outcomeOf(content)
  return outcome.failed ? outcome.error : outcome.text
}

const numbered = (
  calls: ReadonlyArray<PlannedCall>,
  messages: ReadonlyArray<Message.Message>
): ReadonlyArray<ToolCall.ToolCall> => {
  const made = messages.reduce(
    (sum, message) => sum + (message.role === "assistant" ? (message.toolCalls?.length ?? 0) : 0),
    0
  )
  return calls.map((call, index) => ({
    id: `call_${made + index + 1}`,
    name: call.name,
    arguments: { ...call.arguments }
  }))
}

/** Streams the reply word by word. Words count as tokens; those up to its last reply are cached, as a provider caches them. */
const script = (reply: Reply, request: Request, wordDelayMs: number): Fake.Script => {
  const words = reply.text.split(/(?<=\s)(?=\S)/).filter((word) => word !== "")
  const pause: Fake.Script = wordDelayMs > 0 ? [{ delayMs: wordDelayMs }] : []
  const { messages } = request
  const read = wordsIn(messages)
  const usage = {
    inputTokens: read,
    outputTokens: words.length,
    totalTokens: read + words.length,
    cachedInputTokens: wordsIn(messages.slice(0, messages.findLastIndex(({ role }) => role === "assistant") + 1))
  }
  return [
    ...words.flatMap((text): Fake.Script => [...pause, { text }]),
    ...reply.calls.map((call): Fake.Script[number] => ({
      toolCall: { id: call.id, name: call.name, arguments: call.arguments ?? {} }
    })),
    { usage },
    { finish: reply.calls.length > 0 ? "tool_calls" : "stop" }
  ]
}

const wordsIn = (messages: ReadonlyArray<Message.Message>): number =>
  messages.reduce((sum, message) => sum + wordCount(Message.text(message)), 0)

const wordCount = (text: string): number => text.split(/\s+/).filter((word) => word !== "").length
