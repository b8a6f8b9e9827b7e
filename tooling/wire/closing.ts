/**
 * The reply to a request with tool results: one fixed text, in each API's own events.
 *
 * @module
 */
import type { Dialect } from "./recording.ts"

/** The final text of every chat whose tools were answered. */
export const closingText = "All done."

/** The closing reply's events. */
export const closing = (dialect: Dialect): ReadonlyArray<string> =>
  events[dialect].map((event) => JSON.stringify(event))

/** Whether a request's body contains tool results. */
export const bringsToolResults = (body: string): boolean =>
  /"role":"tool"|"type":"tool_result"|"type":"function_call_output"|"functionResponse"/.test(body)

const reply = { id: "resp_closing", object: "response", created_at: 1, model: "recorded" }
const item = { id: "msg_closing", type: "message", role: "assistant" }
const part = { type: "output_text", text: closingText, annotations: [] }
const at = { output_index: 0, content_index: 0, item_id: item.id }

const events: Readonly<Record<Dialect, ReadonlyArray<unknown>>> = {
  chat: [
    {
      id: "closing",
      object: "chat.completion.chunk",
      created: 1,
      model: "recorded",
      choices: [{ index: 0, delta: { role: "assistant", content: closingText }, finish_reason: null }]
    },
    {
      id: "closing",
      object: "chat.completion.chunk",
      created: 1,
      model: "recorded",
      choices: [{ index: 0, delta: {}, finish_reason: "stop" }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
    }
  ],
  responses: [
    { type: "response.created", response: { ...reply, status: "in_progress", output: [] } },
    { type: "response.output_item.added", output_index: 0, item: { ...item, status: "in_progress", content: [] } },
    { type: "response.output_text.delta", ...at, delta: closingText },
    { type: "response.output_item.done", output_index: 0, item: { ...item, status: "completed", content: [part] } },
    {
      type: "response.completed",
      response: {
        ...reply,
        status: "completed",
        output: [{ ...item, status: "completed", content: [part] }],
        usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
      }
    }
  ],
  messages: [
    {
      type: "message_start",
      message: {
        id: item.id,
        type: "message",
        role: "assistant",
        model: "recorded",
        content: [],
        stop_reason: null,
        usage: { input_tokens: 1, output_tokens: 1 }
      }
    },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: closingText } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { input_tokens: 1, output_tokens: 1 } },
    { type: "message_stop" }
  ],
  gemini: [
    {
      candidates: [{ content: { parts: [{ text: closingText }], role: "model" }, finishReason: "STOP", index: 0 }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
    }
  ]
}
