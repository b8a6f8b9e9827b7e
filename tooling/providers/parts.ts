/**
 * Every type of stream part of the AI SDK's specification, and what the adapter makes of it.
 *
 * @module
 */
import type { AdapterEvent } from "@troupe/chat/events"
import { Adapter } from "@troupe/chat/models"
import { aiSdk } from "@troupe/providers/AiSdk"
import { plain } from "./features.ts"
import { finishOf, type Part, requestOptions, scriptedModel } from "./scriptedModel.ts"

const source = { type: "source", sourceType: "url", id: "s1", url: "https://example.org" } as const
const inputStart = { type: "tool-input-start", id: "c1", toolName: "weather" } as const
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
  "tool-input-start": [[], inputStart],
  "tool-input-delta": [[inputStart], { type: "tool-input-delta", id: "c1", delta: "{" }],
  "tool-input-end": [[inputStart], { type: "tool-input-end", id: "c1" }],
  "tool-call": [[], call],
  "tool-result": [[{ ...call, toolName: "web_search", providerExecuted: true }], result],
  "tool-approval-request": [[{ ...call, toolName: "mcp", providerExecuted: true }], approval],
  source: [[], source],
  file: [[], file],
  "reasoning-file": [[], { ...file, type: "reasoning-file" }],
  custom: [[], { type: "custom", kind: "openai.compaction" }],
  finish: [[], finishOf("length", "max")],
  ping: [[], { type: "ping" }],
  raw: [[], { type: "raw", rawValue: 1 }],
  error: [[{ type: "text-delta", id: "t", delta: "Hi" }], { type: "error", error: "overloaded" }]
}

const places = ["message", "tool calls", "response"] as const
type Place = (typeof places)[number]

/** The rows of the table of parts: each type, the tags of its additional events, and where it is kept. */
export const partRows = () =>
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
const kept = (without: Events, shown: Events): ReadonlyArray<Place> => {
  const facts: Readonly<Record<Place, (events: Events) => unknown>> = {
    message: (events) => events.flatMap((event) => (event.type === "message_completed" ? event.message : [])),
    "tool calls": (events) => events.filter((event) => event.type === "tool_call_completed"),
    response: (events) => events.flatMap(saidAbout)
  }
  const differs = (fact: (events: Events) => unknown) => JSON.stringify(fact(without)) !== JSON.stringify(fact(shown))
  return places.filter((name) => differs(facts[name]))
}

/** What an event says about the response. */
const saidAbout = (event: Events[number]): ReadonlyArray<unknown> => {
  if (event.type === "message_started") return [event.metadata]
  return event.type === "message_completed" ? [event.metadata, event.finishReason, event.usage] : []
}

const eventsOf = async (parts: ReadonlyArray<Part>): Promise<ReadonlyArray<AdapterEvent>> => {
  const all = parts.some(({ type }) => type === "finish") ? parts : [...parts, finishOf("stop", "end")]
  const adapter = aiSdk(scriptedModel(() => all))
  const events: Array<AdapterEvent> = []
  for await (const event of Adapter.eventsOf(await adapter.stream(plain, requestOptions))) events.push(event)
  return events
}
