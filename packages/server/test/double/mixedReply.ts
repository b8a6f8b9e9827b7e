/** A model whose replies have reasoning, a file and a source. */
import type { AdapterEvent } from "@troupe/chat/events"
import type { Adapter, Request } from "@troupe/chat/models"

/**
 * The first reply thinks, says something, shows a picture and a source, and calls `where`; the next says where it is.
 * `pause` is awaited before each event.
 */
export const mixedReply = (pause: () => Promise<void> = async () => {}): Adapter.Adapter => ({
  name: "mixed",
  stream: async function* (request): AsyncGenerator<AdapterEvent> {
    for (const event of eventsOf(request)) {
      await pause()
      yield event
    }
  }
})

function* eventsOf(request: Request): Generator<AdapterEvent> {
  yield { type: "message_started", message: { role: "assistant", content: "" } }
  const last = request.messages.at(-1)
  if (last?.role === "tool") {
    yield { type: "text_delta", id: "0", delta: "In " }
    yield { type: "text_delta", id: "0", delta: "Oslo" }
    yield { type: "text_completed", id: "0", text: "In Oslo" }
    yield { type: "message_completed", message: { role: "assistant", content: "In Oslo" }, finishReason: "stop" }
    return
  }
  yield { type: "reasoning_delta", id: "r", delta: "Let me " }
  yield { type: "reasoning_delta", id: "r", delta: "see" }
  yield { type: "text_delta", id: "0", delta: "A " }
  yield { type: "text_delta", id: "0", delta: "picture" }
  yield { type: "text_completed", id: null, text: "A picture" }
  yield { type: "tool_call_started", id: "c0", name: "where" }
  yield { type: "tool_call_delta", id: "c0", argumentsDelta: '{"exact":' }
  yield { type: "tool_call_delta", id: "c0", argumentsDelta: "true}" }
  yield {
    type: "tool_call_completed",
    id: "c0",
    name: "where",
    arguments: { exact: true },
    rawArguments: '{"exact":true}'
  }
  const message = {
    role: "assistant",
    content: "A picture",
    parts: [
      { type: "reasoning", text: "Let me see" },
      { type: "text", text: "A picture" },
      { type: "file", file: { base64: "iVBORw0KGgo=" }, mediaType: "image/png" },
      { type: "source", id: "s", source: { url: "https://example.org/" }, title: "Tides" },
      { type: "tool_call", toolCallId: "c0" }
    ]
  } as const
  yield { type: "message_completed", message, finishReason: "tool_calls" }
}
