/**
 * The events of each API, as its providers stream them.
 *
 * @module
 */
import type { Dialect } from "./recording.ts"

/** The body of a stream with these events. */
export const bodyOf = (dialect: Dialect, events: ReadonlyArray<unknown>): string =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("") + (dialect === "chat" ? "data: [DONE]\n\n" : "")

/** A chunk of chat completions. */
export const chunk = (delta: unknown, reason: string | null = null, more: object = {}) => ({
  id: "c",
  object: "chat.completion.chunk",
  created: 1,
  model: "recorded",
  choices: [{ index: 0, delta, finish_reason: reason }],
  ...more
})

/** The usage of a chunk. */
export const chunkUsage = { usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } }

/** One item of the Responses API: its beginning, the events inside, its end. */
export const item = (at: number, value: object, ...inside: ReadonlyArray<object>): ReadonlyArray<unknown> => [
  { type: "response.output_item.added", output_index: at, item: { status: "in_progress", ...value } },
  ...inside.map((event) => ({ output_index: at, ...event })),
  { type: "response.output_item.done", output_index: at, item: { status: "completed", ...value } }
]

/** A reply of the Responses API with these items. */
export const response = (...items: ReadonlyArray<unknown>): ReadonlyArray<unknown> => {
  const reply = { id: "resp", object: "response", created_at: 1, model: "recorded", output: [] }
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
  return [
    { type: "response.created", response: { ...reply, status: "in_progress" } },
    ...items,
    { type: "response.completed", response: { ...reply, status: "completed", usage } }
  ]
}

/** One block of the Messages API. */
export const block = (index: number, begun: unknown, ...deltas: ReadonlyArray<unknown>): ReadonlyArray<unknown> => [
  { type: "content_block_start", index, content_block: begun },
  ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
  { type: "content_block_stop", index }
]

/** The first event of the Messages API. */
export const messageStart = (usage: object = { input_tokens: 1, output_tokens: 1 }) => ({
  type: "message_start",
  message: { id: "msg", type: "message", role: "assistant", model: "recorded", content: [], stop_reason: null, usage }
})

/** The last events of the Messages API. */
export const messageEnd = (reason: string): ReadonlyArray<unknown> => [
  { type: "message_delta", delta: { stop_reason: reason }, usage: { output_tokens: 1 } },
  { type: "message_stop" }
]

/** A chunk of Gemini's API. */
export const candidate = (parts: ReadonlyArray<object>, more: object = {}) => ({
  candidates: [{ content: { role: "model", parts }, index: 0, ...more }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
})
