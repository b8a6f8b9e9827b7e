/**
 * Events for the wire: the Codec's form, with two omissions.
 *
 * **Details**: `Codec.fromJson("Event", …)` reads it. Errors are sent without their cause, stack and metadata. The threads
 * of `step_completed` and `chat_completed` start at the last message of a person, and a chat's result has no steps: the
 * reader has those already, or reads the history. An event of a child is treated likewise.
 */
import type { ChatResult } from "@troupe/chat/chats"
import type { Event } from "@troupe/chat/events"
import type { Thread } from "@troupe/chat/messages"
import { Codec } from "@troupe/chat/store"

/** The JSON text of an event. */
export const eventText = (event: Event): string =>
  isFragment(event) ? JSON.stringify(event) : written(shortened(event))

const isFragment = (event: Event): boolean => {
  switch (event.type) {
    case "text_delta":
    case "reasoning_delta":
    case "tool_call_delta":
      return true
    case "child_event":
      return isFragment(event.event)
    default:
      return false
  }
}

const shortened = (event: Event): Event => {
  switch (event.type) {
    case "step_completed":
      return { ...event, thread: newest(event.thread) }
    case "chat_completed":
      return { ...event, result: brief(event.result) }
    case "child_event":
      return { ...event, event: shortened(event.event) }
    default:
      return event
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

/** The text of a JSON value, without the causes below `$error`, which the Codec writes for an error. */
const withoutCauses = (json: unknown): string => {
  const whole = JSON.stringify(json)
  // A function for each field costs more than most texts, which have no error.
  if (!whole.includes('"$error"')) return whole
  return JSON.stringify(json, (key, value: unknown) => {
    if (key !== "$error" || !isObject(value)) return value
    const { cause: _, metadata: __, errors: ___, ...said } = value
    return said
  })
}
