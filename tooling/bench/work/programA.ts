/** Program A: two model steps. The first has two tool calls of 50 ms, the second has 50 text deltas. */
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises"
import type { AdapterEvent } from "@troupe/chat/events"

/** The number of chats that run the program at the same time. */
export const chats = 1_000

/** The ids of the two tool calls. */
export const callIds = ["c0", "c1"] as const

/** The number of text deltas. */
export const words = 50

/** One text delta. */
export const word = "word "

const toolMs = 50

/**
 * The timing of a model's deltas.
 *
 * - `"at once"`: all of them are ready, without a wait between two
 * - `"by turns"`: each in a turn of the event loop, as from a socket
 */
export type Pace = "at once" | "by turns"

/** A call of a tool. */
interface Call {
  readonly id: string
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
}

const waits: ReadonlyArray<Call> = callIds.map((id) => ({ id, name: "wait", arguments: { id } }))

/** The model's first step; by default it calls the tool of the program twice. */
export async function* wantsTools(calls: ReadonlyArray<Call> = waits): AsyncGenerator<AdapterEvent, void> {
  yield { type: "message_started", message: { role: "assistant", content: "" } }
  for (const call of calls) {
    yield { type: "tool_call_started", id: call.id, name: call.name }
    yield { type: "tool_call_completed", ...call, rawArguments: JSON.stringify(call.arguments) }
  }
  yield { type: "message_completed", message: { role: "assistant", content: "" }, finishReason: "tool_calls" }
}

/** The model's second step. */
export async function* answers(pace: Pace, count = words): AsyncGenerator<AdapterEvent, void> {
  yield { type: "message_started", message: { role: "assistant", content: "" } }
  for (let said = 0; said < count; said++) {
    if (pace === "by turns") await nextTurn()
    yield { type: "text_delta", id: null, delta: word }
  }
  yield { type: "message_completed", message: { role: "assistant", content: "" }, finishReason: "stop" }
}

/** The handler of the tool. */
export const work = async (id: unknown, ms = toolMs): Promise<unknown> => {
  await sleep(ms)
  return id
}

/** Throws unless the length is that of so many deltas. */
export const checkLength = (length: number, count = words): void => {
  if (length !== count * word.length) throw new Error(`read ${length} characters`)
}

/** An event, as its reader sees it. */
export type TextEvent = { readonly type: string; readonly delta?: string }

type Events = AsyncIterable<TextEvent>

/** Reads the events of one chat, and checks its text. */
export const read = async (events: Events): Promise<void> => {
  let text = ""
  for await (const event of events) if (event.type === "text_delta") text += event.delta ?? ""
  checkLength(text.length)
}

/** Reads the events of one answer of so many deltas, and keeps no text. */
export const readLength = async (events: Events, count: number): Promise<void> => {
  let length = 0
  for await (const event of events) if (event.type === "text_delta") length += event.delta?.length ?? 0
  checkLength(length, count)
}

/** So many chats at the same time. */
export const together = async (count: number, one: (index: number) => Promise<void>): Promise<void> => {
  await Promise.all(Array.from({ length: count }, (_, index) => one(index)))
}
