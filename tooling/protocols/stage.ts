/**
 * A server on loopback whose model replies with scripted stream parts of the AI SDK, and what the model receives.
 *
 * @module
 */
import { askUser, Fake, tool, Troupe } from "@troupe/chat"
import { Agents } from "@troupe/chat/agents"
import { aiSdk } from "@troupe/providers/AiSdk"
import { Server } from "@troupe/server"
import { listen } from "@troupe/server/Node"
import { finishOf, type Part, scriptedModel } from "../providers/scriptedModel.ts"

/** A part of a reply; `hold` waits for `release`, or for the end of the request. */
export type Piece = Part | "hold"

/** One reply of the model. */
export type Reply = ReadonlyArray<Piece>

/** A running server; its disposal stops it. */
export type Stage = Awaited<ReturnType<typeof staged>>

/** The end of a reply. */
export const finish = (unified: Parameters<typeof finishOf>[0] = "stop"): Piece =>
  finishOf(unified, unified, 1_234, 5_678)

/** A reply of text. */
export const saying = (text: string): Reply => [{ type: "text-delta", id: "t", delta: text }, finish()]

/** A reply that calls a tool. */
export const calling = (toolName: string, input: object = {}): Reply => [
  { type: "tool-call", toolCallId: "c0", toolName, input: JSON.stringify(input) },
  finish("tool-calls")
]

const clock = tool({ name: "clock", execute: () => "half past nine" })

const tools = [
  clock,
  Agents.subagent("dig", { events: true }),
  Agents.subagent("guide"),
  tool({ name: "where", manual: true }),
  tool({ name: "ask", execute: () => askUser("Which colour?") }),
  tool({ name: "pay", execute: () => "the bill is paid" })
]

const peak = tool({ name: "peak", execute: () => askUser("Which peak?") })
const callOf = (name: string) => [{ toolCall: { id: "k0", name } }, { finish: "tool_calls" }] as const

/** A sub-agent that says something, calls a tool, and then answers; and one that asks a person. */
const agents = () => {
  const scripts = [
    [{ text: "Digging deep" }, ...callOf("clock")],
    [{ text: "Found" }, { finish: "stop" }]
  ] as const
  return {
    dig: { adapter: Fake.make({ scripts }), tools: [clock] },
    guide: { adapter: Fake.make({ script: callOf("peak") }), tools: [peak] }
  }
}

/** Starts a server whose model gives these replies in order; the last one again and again. */
export const staged = async (...replies: readonly [Reply, ...ReadonlyArray<Reply>]) => {
  const received: Array<string> = []
  let aborted = 0
  let going = Promise.withResolvers<void>()
  const model = scriptedModel(async function* ({ abortSignal, ...request }) {
    const reply = replies[Math.min(received.length, replies.length - 1)] ?? []
    received.push(JSON.stringify(request))
    abortSignal?.addEventListener("abort", () => {
      aborted += 1
      going.resolve()
    })
    for (const piece of reply) {
      if (piece === "hold") await going.promise
      else yield piece
    }
  })
  const troupe = await Troupe.start({
    adapter: aiSdk(model),
    tools,
    agents: agents(),
    retry: false,
    permissions: { ask: ({ toolCall }) => (toolCall.name === "pay" ? "suspend" : "allow") }
  })
  const server = Server.make({
    troupe,
    authorize: () => ({ owner: "anna", may: { approve: true } }),
    models: { fast: { temperature: 0.125 } }
  })
  const { url, close } = await listen(server, { graceMs: 1_000 })
  return {
    url,
    /** The requests that the model received, as JSON. */
    received,
    /** How many requests were aborted. */
    aborted: () => aborted,
    /** Lets the replies that wait go on. */
    release: () => {
      going.resolve()
      going = Promise.withResolvers()
    },
    [Symbol.asyncDispose]: async () => {
      going.resolve()
      await close()
      await troupe.stop()
    }
  }
}
