/** Joins consecutive fragments (deltas) of a reply. */
import type { Event, TextDelta, ToolCallDelta } from "./Event.ts"

/** Whether an event continues the same text or arguments as the fragment before it. */
export const continues = (begun: Event, event: Event): boolean =>
  begun.type === event.type &&
  (event.type === "text_delta" || event.type === "tool_call_delta") &&
  (begun as TextDelta | ToolCallDelta).id === event.id

/** The text of a fragment; empty for any other event. */
export const textOf = (event: Event): string =>
  event.type === "text_delta" ? event.delta : event.type === "tool_call_delta" ? event.argumentsDelta : ""

/** A fragment with this text; any other event unchanged. */
export const withText = (event: Event, text: string): Event => {
  if (event.type === "text_delta") return event.delta === text ? event : { ...event, delta: text }
  if (event.type !== "tool_call_delta" || event.argumentsDelta === text) return event
  return { ...event, argumentsDelta: text }
}

/** One event for two unread ones: fragments of the same text are joined. `undefined` if the events stay apart. */
export const joined = (unread: Event, event: Event): Event | undefined =>
  continues(unread, event) ? withText(unread, textOf(unread) + textOf(event)) : undefined
