/** The model of the nodes: each reply begins with the number of the process that makes it. */
import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises"
import type { AdapterEvent } from "@troupe/chat/events"
import { Message } from "@troupe/chat/messages"
import type { Request } from "@troupe/chat/models"

/** The reply that an input asks for: so many words, with a pause before each. Without a pause, each is in its own turn of the loop. */
export interface Asked {
  readonly words: number
  readonly pauseMs: number
}

/** The reply of a model. */
export async function* reply({ messages }: Request): AsyncGenerator<AdapterEvent, void> {
  const last = messages.findLast(({ role }) => role === "user")
  const { words, pauseMs } = JSON.parse(last === undefined ? "{}" : Message.text(last)) as Asked
  yield { type: "message_started", message: { role: "assistant", content: "" } }
  for (let said = 0; said < words; said++) {
    if (said > 0) await (pauseMs === 0 ? nextTurn() : pause(pauseMs))
    yield { type: "text_delta", id: null, delta: said === 0 ? `${process.pid} ` : "word " }
  }
  yield { type: "message_completed", message: { role: "assistant", content: "" }, finishReason: "stop" }
}
