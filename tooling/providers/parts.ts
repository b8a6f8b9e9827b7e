/**
 * Every type of stream part of the AI SDK's specification, and what the adapter makes of it.
 *
 * @module
 */
import type { AdapterEvent } from "@troupe/chat/events"
import { Adapter } from "@troupe/chat/models"
import { aiSdk, type AiSdkModel } from "@troupe/providers/AiSdk"
import { plain } from "./features.ts"

type Model = Extract<AiSdkModel, { readonly specificationVersion: "v4" }>
type Part = Awaited<ReturnType<Model["doStream"]>>["stream"] extends ReadableStream<infer P> ? P : never

const source = { type: "source", sourceType: "url", id: "s1", url: "https://example.org" } as const
const call = { type: "tool-call", toolCallId: "c1", toolName: "weather", input: "{}" } as const
const approval = { type: "tool-approval-request", approvalId: "a1", toolCallId: "c1" } as const
const file = { type: "file", mediaType: "image/png", data: { type: "data", data: "AA==" } } as const
const result = { type: "tool-result", toolCallId: "c1", toolName: "web_search", result: { found: 1 } } as const

/** The parts before each type of part, and the part itself. */
const samples: {
  readonly [Type in Part["type"]]: readonly [before: ReadonlyArray<Part>, part: Part & { type: Type }]
} = {
  "stream-start": [[], { type: "stream-start", warnings: [{ type: "other", message: "careful" }] }],
  "response-metadata": [[], { type: "response-metadata", id: "r1", modelId: "m1" }],
  "text-start": [[], { type: "text-start", id: "t" }],
  "text-delta": [[], { type: "text-delta", id: "t", delta: "Hi" }],
  "text-end": [[{ type: "text-delta", id: "t", delta: "Hi" }], { type: "text-end", id: "t" }],
  "reasoning-start": [[], { type: "reasoning-start", id: "r" }],
  "reasoning-delta": [[], { type: "reasoning-delta", id: "r", delta: "Hm" }],
  "reasoning-end": [[{ type: "reasoning-delta", id: "r", delta: "Hm" }], { type: "reasoning-end", id: "r" }],
  "tool-input-start": [[], { type: "tool-input-start", id: "c1", toolName: "weather" }],
  "tool-input-delta": [
    [{ type: "tool-input-start", id: "c1", toolName: "weather" }],
    { type: "tool-input-delta", id: "c1", delta: "{" }
  ],
  "tool-input-end": [
    [{ type: "tool-input-start", id: "c1", toolName: "weather" }],
    { type: "tool-input-end", id: "c1" }
  ],
  "tool-call": [[], call],
  "tool-result": [[{ ...call, toolName: "web_search", providerExecuted: true }], result],
  "tool-approval-request": [[{ ...call, toolName: "mcp", providerExecuted: true }], approval],
  source: [[], source],
  file: [[], file],
  "reasoning-file": [[], { ...file, type: "reasoning-file" }],
  custom: [[], { type: "custom", kind: "openai.compaction" }],
  finish: [
    [],
    {
      type: "finish",
      finishReason: { unified: "length", raw: "max" },
      usage: { inputTokens: count(1), outputTokens: count(1) }
    }
  ],
  ping: [[], { type: "ping" }],
  raw: [[], { type: "raw", rawValue: 1 }],
  error: [[], { type: "error", error: "overloaded" }]
}

function count(total: number) {
  return {
    total,
    noCache: undefined,
    cacheRead: undefined,
    cacheWrite: undefined,
    text: undefined,
    reasoning: undefined
  }
}

/** A row of the table of parts. */
export interface PartRow {
  readonly type: string
  /** The tags of the additional events. */
  readonly events: ReadonlyArray<string>
  /** Where the part is kept. */
  readonly kept: ReadonlyArray<"message" | "tool calls" | "response">
}

/** The rows of the table of parts. */
export const partRows = (): Promise<ReadonlyArray<PartRow>> =>
  Promise.all(
    Object.entries(samples).map(async ([type, [before, part]]) => {
      const [without, shown] = [await eventsOf(before), await eventsOf([...before, part])]
      const known = without.map((event) => JSON.stringify(event))
      const added = shown.filter(
        (event) => event.type !== "message_completed" && !known.includes(JSON.stringify(event))
      )
      return { type, events: [...new Set(added.map((event) => event.type))], kept: kept(without, shown) }
    })
  )

type Events = ReadonlyArray<AdapterEvent>

/** The parts of the completed reply that differ. */
const kept = (without: Events, shown: Events): PartRow["kept"] => {
  const [one, other] = [without, shown].map((events) => ({
    message: JSON.stringify(events.filter((event) => event.type === "message_completed").map(({ message }) => message)),
    calls: JSON.stringify(events.filter((event) => event.type === "tool_call_completed")),
    response: JSON.stringify(events.flatMap(saidAbout))
  }))
  return [
    ...(one?.message === other?.message ? [] : (["message"] as const)),
    ...(one?.calls === other?.calls ? [] : (["tool calls"] as const)),
    ...(one?.response === other?.response ? [] : (["response"] as const))
  ]
}

/** What an event says about the response. */
const saidAbout = (event: Events[number]): ReadonlyArray<unknown> => {
  if (event.type === "message_started") return [event.metadata]
  return event.type === "message_completed" ? [event.metadata, event.finishReason, event.usage] : []
}

const unused = (): never => {
  throw new Error("only streaming is used")
}

const eventsOf = async (parts: ReadonlyArray<Part>): Promise<ReadonlyArray<AdapterEvent>> => {
  const end: Part = { ...samples.finish[1], finishReason: { unified: "stop", raw: "end" } }
  const all = parts.some(({ type }) => type === "finish") ? parts : [...parts, end]
  const model: Model = {
    specificationVersion: "v4",
    provider: "scripted.chat",
    modelId: "one",
    supportedUrls: {},
    doGenerate: unused,
    doStream: async () => ({ stream: streamOf(all) })
  }
  const { signal } = new AbortController()
  const options = { signal, requestId: "r", includeRawChunks: true, adapterOptions: {} }
  const events: Array<AdapterEvent> = []
  for await (const event of Adapter.eventsOf(await aiSdk(model).stream(plain, options))) events.push(event)
  return events
}

const streamOf = (parts: ReadonlyArray<Part>): ReadableStream<Part> =>
  new ReadableStream({
    start: (controller) => {
      for (const part of parts) controller.enqueue(part)
      controller.close()
    }
  })
