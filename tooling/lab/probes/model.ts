/** The scripted model of one agent, and the tools of the probes. */
import { once } from "node:events"
import { Fake, user } from "@troupe/chat"
import type { AdapterEvent } from "@troupe/chat/events"
import { Message } from "@troupe/chat/messages"
import { Adapter, type Request } from "@troupe/chat/models"

/** The last input of a thread, and the results of the calls after it. */
export interface Asked {
  readonly input: string
  readonly results: ReadonlyArray<string>
}

/** Answers a request; `count` is the number of the request, from 1 on. */
type Respond = (asked: Asked, count: number) => Fake.Script

/** The tokens of each reply. */
export const replyTokens = 60

const askedOf = ({ messages }: Request): Asked => {
  const at = messages.findLastIndex(({ role }) => role === "user")
  const results = messages.slice(at).filter(({ role }) => role === "tool")
  return { input: Message.text(messages[at] ?? user("")), results: results.map(Message.text) }
}

export type Model = ReturnType<typeof modelOf>

/** A model that counts its requests, and the words that were read. Troupe takes it as its adapter. */
export const modelOf = (respond: Respond) => {
  const usage = { totalTokens: replyTokens }
  const fake = Fake.make({ usage, respond: (request, index) => respond(askedOf(request), index + 1) })
  const model = {
    name: "scripted",
    words: 0,
    get requests(): number {
      return fake.requests.length
    },
    /** The number of streams that have ended, or that their readers have left. */
    get released(): number {
      return fake.released
    },
    async *stream(request: Request, options: Adapter.AdapterOptions): AsyncGenerator<AdapterEvent, void> {
      for await (const event of Adapter.eventsOf(await fake.stream(request, options))) {
        if (event.type === "text_delta") model.words++
        yield event
      }
    },
    /** A whole reply, for a framework that reads no stream; throws when the signal is aborted meanwhile. */
    whole: async ({ input, results }: Asked, signal = never) => {
      const messages = [user(input), ...results.map((content) => ({ role: "tool", toolCallId: "", content }) as const)]
      const options = { signal, requestId: "", includeRawChunks: false, adapterOptions: {} }
      const made: Array<{ readonly id: string; readonly name: string; readonly json: string }> = []
      let text = ""
      for await (const event of model.stream({ messages, tools: [] }, options)) {
        signal.throwIfAborted()
        if (event.type === "text_delta") text += event.delta
        if (event.type === "tool_call_completed") made.push({ ...event, json: event.rawArguments })
      }
      return { text, calls: made }
    }
  }
  return model
}

/** A signal that is never aborted. */
const never = new AbortController().signal

export const says = (text: string): Fake.Script => [{ text }, { finish: "stop" }]

/** Calls of tools or agents by id, each with a task if it is an agent. */
export const calls = (names: Readonly<Record<string, string>>, task?: string): Fake.Script => [
  ...Object.entries(names).map(([id, name]) => ({
    toolCall: { id, name, arguments: task === undefined ? {} : { input: `${id} ${task}` } }
  })),
  { finish: "tool_calls" }
]

/** One call with these arguments. */
export const callWith = (name: string, args: Readonly<Record<string, string>>): Fake.Script => [
  { toolCall: { id: `call-${name}`, name, arguments: args } },
  { finish: "tool_calls" }
]

/** Calls other agents with one task each, and answers with their results. */
export const gives = (agents: Readonly<Record<string, string>>): Model =>
  modelOf(({ results }) => (results.length > 0 ? says(`all: ${results.join(" and ")}`) : calls(agents, "dig")))

/** Calls a tool once, and answers as given. */
export const uses = (id: string, name: string, answer: Respond = () => says("found")): Model =>
  modelOf((asked, count) => (asked.results.length > 0 ? answer(asked, count) : calls({ [id]: name })))

/** A tool that works until it is released or its signal is aborted, and the counts of what it did. */
export const held = (name: string) => {
  const { promise, resolve: release } = Promise.withResolvers<void>()
  const counts = { begun: 0, signals: 0, effects: 0 }
  const run = async (signal = never): Promise<string> => {
    counts.begun++
    signal.addEventListener("abort", () => counts.signals++)
    await Promise.race([promise, once(signal, "abort")])
    signal.throwIfAborted()
    counts.effects++
    return "done"
  }
  return { tool: { name, run }, counts, release }
}

/** A tool that writes: its effect comes first, and then `after`. */
export const charge = (effect: () => void, after: () => Promise<void> = async () => {}) => ({
  name: "charge",
  run: async (): Promise<string> => {
    effect()
    await after()
    return "charged"
  }
})
