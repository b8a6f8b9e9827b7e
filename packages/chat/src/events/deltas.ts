/** Joins consecutive fragments (deltas) of a reply. */
import type { Event, ReasoningDelta, TextDelta, ToolCallDelta } from "./Event.ts"

/** A fragment of a reply. */
export type Fragment = TextDelta | ReasoningDelta | ToolCallDelta

/** Whether an event is a fragment. */
export const isFragment = (event: Event): event is Fragment =>
  event.type === "text_delta" || event.type === "reasoning_delta" || event.type === "tool_call_delta"

/** Whether an event continues the same text, reasoning or arguments as the fragment before it. */
export const continues = (begun: Event, event: Event): boolean =>
  begun.type === event.type && isFragment(event) && (begun as Fragment).id === event.id

/** The text of a fragment; empty for any other event. */
export const textOf = (event: Event): string =>
  !isFragment(event) ? "" : event.type === "tool_call_delta" ? event.argumentsDelta : event.delta

/** A fragment with this text; any other event unchanged. */
export const withText = (event: Event, text: string): Event => {
  if (!isFragment(event) || textOf(event) === text) return event
  return event.type === "tool_call_delta" ? { ...event, argumentsDelta: text } : { ...event, delta: text }
}

/** One event for two unread ones: fragments of the same text are joined. `undefined` if the events stay apart. */
export const joined = (unread: Event, event: Event): Event | undefined =>
  continues(unread, event) ? withText(unread, textOf(unread) + textOf(event)) : undefined
