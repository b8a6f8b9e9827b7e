/**
 * The reply to a request with tool results: one fixed text, in each API's own events.
 *
 * @module
 */
import { block, candidate, chunk, chunkUsage, item, messageEnd, messageStart, response } from "./dialects.ts"
import type { Dialect } from "./recording.ts"

/** The final text of every chat whose tools were answered. */
export const closingText = "All done."

const part = { type: "output_text", text: closingText, annotations: [] }
const said = { id: "msg_closing", type: "message", role: "assistant", content: [part] }
const delta = { type: "response.output_text.delta", content_index: 0, item_id: said.id, delta: closingText }

/** The closing reply's events. */
export const closing: Readonly<Record<Dialect, ReadonlyArray<unknown>>> = {
  chat: [chunk({ role: "assistant", content: closingText }), chunk({}, "stop", chunkUsage)],
  responses: response(...item(0, said, delta)),
  messages: [
    messageStart(),
    ...block(0, { type: "text", text: "" }, { type: "text_delta", text: closingText }),
    ...messageEnd("end_turn")
  ],
  gemini: [candidate([{ text: closingText }], { finishReason: "STOP" })]
}

/** Whether a request's body contains tool results. */
export const bringsToolResults = (body: string): boolean =>
  /"role":"tool"|"type":"tool_result"|"type":"function_call_output"|"functionResponse"/.test(body)
