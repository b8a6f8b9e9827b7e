/**
 * The model without a key: it plans real tool calls from the user's text, and answers from their results.
 *
 * @module
 */
import { Fake } from "@troupe/chat"
import { Message } from "@troupe/chat/messages"
import type { Adapter, Request } from "@troupe/chat/models"
import { suggestions } from "../suggestions/index.ts"
import { coordinated, type Planned, researched } from "./teamScript.ts"

/** The options of the model. `wordDelayMs` is the time between two words. */
export interface ScriptedModelOptions {
  readonly wordDelayMs: number
}

const cities = (text: string): ReadonlyArray<string> => {
  const named = /\b(?:in|of|for)\s+(.+)$/iu.exec(text)?.[1] ?? "Oslo"
  return named
    .split(/,|\band\b/iu)
    .map((city) => city.replaceAll(/[^\p{L}\s-]/gu, "").trim())
    .filter((city) => city !== "")
    .slice(0, 6)
}

const plan = (text: string): ReadonlyArray<Planned> => coordinated(text) ?? planned(text)

const planned = (text: string): ReadonlyArray<Planned> => [
  ...(/\bcrash/iu.test(text) ? [{ name: "crash", arguments: {} }] : []),
  ...(/\bweather\b/iu.test(text) ? cities(text).map((city) => ({ name: "weather", arguments: { city } })) : []),
  ...(/\breport\b/iu.test(text)
    ? [{ name: "report", arguments: { topic: /about\s+(.+?)[.?!]*$/iu.exec(text)?.[1] ?? "owls" } }]
    : []),
  ...(/\bstubborn\b/iu.test(text) ? [{ name: "stubborn", arguments: { seconds: 6 } }] : []),
  ...(/\bcharge\b|\bpay\b/iu.test(text)
    ? [{ name: "charge", arguments: { dollars: Number(/\d+/u.exec(text)?.[0] ?? 20) } }]
    : []),
  ...(/\bhotel\b/iu.test(text) ? [{ name: "book_room", arguments: {} }] : []),
  ...(/\bbook\b|\breserve\b(?!.*hotel)/iu.test(text)
    ? [{ name: "ask", arguments: { question: "For when, and for how many?" } }]
    : [])
]

const story = [
  "Once there was a lighthouse keeper who wrote down every ship that passed.",
  "One night a ship passed that was in no register, and he wrote it down all the same.",
  "In the morning the line was gone; in the evening the ship came back.",
  "He asked its name over the water. It answered with his own.",
  "So he lit the lamp twice, as one does for friends, and the fog took both of them kindly.",
  "People say the lamp still lights twice when somebody is expected."
].join(" ")

const greeting = [
  "I am a small scripted model, so that you can see Troupe work without a key. Try one of these:",
  "",
  ...suggestions.map(({ text }) => `- ${text}`)
].join("\n")

const textOf = (message: Message.Message | undefined): string => (message === undefined ? "" : Message.text(message))

/** The text of a result without the id of its agent, or the message of an error. */
const saidBy = (result: Message.Message): string => {
  const text = textOf(result).replace(/\s*\[agent: .+\]$/u, "")
  try {
    const { error } = JSON.parse(text) as { readonly error?: unknown }
    return typeof error === "string" ? error : text
  } catch {
    return text
  }
}

/** The user's newest question, whether it answers a tool's question, and the tools' results since. */
const turnOf = (messages: Request["messages"]) => {
  const last = messages.findLastIndex(({ role }) => role === "user")
  const before = messages[last - 1]
  return {
    said: textOf(messages[last]),
    answers: before?.role === "assistant" && before.metadata?.["ask_user"] === true,
    results: messages.slice(last + 1).filter((message) => message.role === "tool")
  }
}

const reply = (messages: Request["messages"]): { readonly text: string; readonly calls: ReadonlyArray<Planned> } => {
  const { said, answers, results } = turnOf(messages)
  const task = messages.find(({ role }) => role === "user")
  const team = researched(textOf(task), answers ? [said] : results.map(saidBy))
  if (team !== undefined) return team
  if (answers) return { text: `Noted: "${said}". Being a script, I do nothing more with it.`, calls: [] }
  if (results.length > 0) {
    const lines = results.map(
      (result) => `- ${saidBy(result)}${result.outcome === "completed" ? "" : ` *(${result.outcome ?? "answered"})*`}`
    )
    return { text: ["Here is what came of it:", "", ...lines].join("\n"), calls: [] }
  }
  const calls = plan(said)
  if (calls.length > 0)
    return { text: calls.length === 1 ? "One moment." : `I do these ${calls.length} things.`, calls }
  return { text: /\bstory\b/iu.test(said) ? story : greeting, calls: [] }
}

const scriptOf = (request: Request, { wordDelayMs }: ScriptedModelOptions, made: number): Fake.Script => {
  const { text, calls } = reply(request.messages)
  const words = text.split(/(?<=\s)(?=\S)/u)
  const read = request.messages.reduce((sum, message) => sum + textOf(message).split(/\s+/u).length, 0)
  return [
    ...words.flatMap((word): Fake.Script => [{ delayMs: wordDelayMs }, { text: word }]),
    ...calls.map((call, index): Fake.Script[number] => ({ toolCall: { id: `call_${made + index + 1}`, ...call } })),
    { usage: { inputTokens: read, outputTokens: words.length, totalTokens: read + words.length } },
    { finish: calls.length > 0 ? "tool_calls" : "stop" }
  ]
}

const callsIn = (messages: Request["messages"]): number =>
  messages.reduce((sum, message) => sum + (message.role === "assistant" ? (message.toolCalls?.length ?? 0) : 0), 0)

/** The scripted model as an adapter. */
export const scriptedModel = (options: ScriptedModelOptions): Adapter.Adapter => {
  const fake = Fake.make({ respond: (request) => scriptOf(request, options, callsIn(request.messages)) })
  return { name: "scripted", stream: fake.stream }
}
