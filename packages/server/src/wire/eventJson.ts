/**
 * Events for the wire: the Codec's form, with two omissions.
 *
 * **Details**: `Codec.fromJson("Event", …)` reads it. Errors are sent without their cause, stack and metadata. The threads
 * of `step_completed` and `chat_completed` start at the last message of a person, and a chat's result has no steps: the
 * reader has those already, or reads the history.
 */
import type { ChatResult } from "@troupe/chat/chats"
import type { Event } from "@troupe/chat/events"
import type { Thread } from "@troupe/chat/messages"
import { Codec } from "@troupe/chat/store"

/** The JSON text of an event. */
export const eventText = (event: Event): string => {
  switch (event.type) {
    case "text_delta":
    case "reasoning_delta":
    case "tool_call_delta":
      return JSON.stringify(event)
    case "step_completed":
      return written({ ...event, thread: newest(event.thread) })
    case "chat_completed":
      return written({ ...event, result: brief(event.result) })
    default:
      return written(event)
  }
}

/** The JSON text of a turn's result. */
export const resultText = (result: ChatResult): string =>
  withoutCauses(Codec.toJson("ChatResult", brief(result), { unencodable: "describe" }).data)

const written = (event: Event): string => withoutCauses(Codec.toJson("Event", event, { unencodable: "describe" }).data)

const brief = (result: ChatResult): ChatResult => ({
  ...result,
  thread: newest(result.thread),
  steps: []
})

const newest = (thread: Thread.Thread): Thread.Thread => {
  const from = thread.messages.findLastIndex(({ role }) => role === "user")
  return { ...thread, messages: thread.messages.slice(Math.max(0, from)) }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

/** Removes the causes below `$error`, which the Codec writes for an error. */
const withoutCauses = (json: unknown): string =>
  JSON.stringify(json, (key, value: unknown) => {
    if (key !== "$error" || !isObject(value)) return value
    const { cause: _, metadata: __, errors: ___, ...said } = value
    return said
  })
