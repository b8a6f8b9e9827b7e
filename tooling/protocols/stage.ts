/**
 * A server on loopback whose model replies with scripted stream parts of the AI SDK, and what the model receives.
 *
 * @module
 */
import { askUser, Fake, tool, Troupe } from "@troupe/chat"
import { Agents } from "@troupe/chat/agents"
import { aiSdk, type AiSdkModel } from "@troupe/providers/AiSdk"
import { Server } from "@troupe/server"
import { listen } from "@troupe/server/Node"

type Model = Extract<AiSdkModel, { readonly specificationVersion: "v4" }>
type Part = Awaited<ReturnType<Model["doStream"]>>["stream"] extends ReadableStream<infer P> ? P : never

/** A part of a reply; `hold` waits for `release`, or for the end of the request. */
export type Piece = Part | "hold"

/** One reply of the model. */
export type Reply = ReadonlyArray<Piece>

/** A running server. */
export interface Stage {
  readonly url: string
  /** The requests that the model received, as JSON. */
  readonly received: ReadonlyArray<string>
  /** How many requests were aborted. */
  readonly aborted: () => number
  /** Lets the replies that wait go on. */
  readonly release: () => void
  readonly close: () => Promise<void>
}

const count = (total: number) => ({
  total,
  noCache: undefined,
  cacheRead: undefined,
  cacheWrite: undefined,
  text: undefined,
  reasoning: undefined
})

/** The end of a reply. */
export const finish = (unified: "stop" | "tool-calls" | "length" = "stop"): Piece => ({
  type: "finish",
  finishReason: { unified, raw: unified },
  usage: { inputTokens: count(1_234), outputTokens: count(5_678) }
})

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

/** A sub-agent that says something, calls a tool, and then answers. */
const dig = (): { readonly adapter: Fake.Fake; readonly tools: ReadonlyArray<typeof clock> } => ({
  adapter: Fake.make({
    scripts: [
      [{ text: "Digging deep" }, { toolCall: { id: "k0", name: "clock" } }, { finish: "tool_calls" }],
      [{ text: "Found" }, { finish: "stop" }]
    ]
  }),
  tools: [clock]
})

const peak = tool({ name: "peak", execute: () => askUser("Which peak?") })

/** A sub-agent that asks a person. */
const guide = (): { readonly adapter: Fake.Fake; readonly tools: ReadonlyArray<typeof peak> } => ({
  adapter: Fake.make({ script: [{ toolCall: { id: "k0", name: "peak" } }, { finish: "tool_calls" }] }),
  tools: [peak]
})

const unused = (): never => {
  throw new Error("only streaming is used")
}

/** Starts a server whose model gives these replies in order; the last one again and again. */
export const staged = async (...replies: readonly [Reply, ...ReadonlyArray<Reply>]): Promise<Stage> => {
  const received: Array<string> = []
  let aborted = 0
  let going = Promise.withResolvers<void>()
  const model: Model = {
    specificationVersion: "v4",
    provider: "scripted.chat",
    modelId: "one",
    supportedUrls: { "*/*": [/.*/u] },
    doGenerate: unused,
    doStream: async ({ abortSignal, ...request }) => {
      const reply = replies[Math.min(received.length, replies.length - 1)] ?? []
      received.push(JSON.stringify(request))
      abortSignal?.addEventListener("abort", () => {
        aborted += 1
        going.resolve()
      })
      const pieces = [...reply]
      return {
        stream: new ReadableStream<Part>({
          pull: async (controller) => {
            const piece = pieces.shift()
            if (piece === undefined) controller.close()
            else if (piece !== "hold") controller.enqueue(piece)
            else await going.promise
          }
        })
      }
    }
  }
  const troupe = await Troupe.start({
    adapter: aiSdk(model),
    tools,
    agents: { dig: dig(), guide: guide() },
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
    received,
    aborted: () => aborted,
    release: () => {
      going.resolve()
      going = Promise.withResolvers()
    },
    close: async () => {
      going.resolve()
      await close()
      await troupe.stop()
    }
  }
}
