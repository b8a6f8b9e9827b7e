/**
 * Joins consecutive fragments (deltas) of a reply. An event of a child that has a fragment is a fragment of the child's reply.
 */
import type { Event, ReasoningDelta, TextDelta, ToolCallDelta } from "./Event.ts"

/** A fragment of a reply. */
type Fragment = TextDelta | ReasoningDelta | ToolCallDelta

/** The event itself, or the innermost event of a child's. */
export const innermost = (event: Event): Exclude<Event, { readonly type: "child_event" }> =>
  event.type === "child_event" ? innermost(event.event) : event

const isOwn = (event: Event): event is Fragment =>
  event.type === "text_delta" || event.type === "reasoning_delta" || event.type === "tool_call_delta"

/** Whether an event is a fragment. */
export const isFragment = (event: Event): boolean =>
  isOwn(event) || (event.type === "child_event" && isFragment(event.event))

/** Whether an event continues the same text, reasoning or arguments as the fragment before it. */
export const continues = (begun: Event, event: Event): boolean => {
  if (event.type === "child_event") {
    if (begun.type !== "child_event" || begun.chat !== event.chat || begun.toolCallId !== event.toolCallId) return false
    return continues(begun.event, event.event)
  }
  return begun.type === event.type && isOwn(event) && (begun as Fragment).id === event.id
}

/** The text of a fragment; empty for any other event. */
export const textOf = (event: Event): string => {
  if (event.type === "child_event") return textOf(event.event)
  return !isOwn(event) ? "" : event.type === "tool_call_delta" ? event.argumentsDelta : event.delta
}

/** A fragment with this text; any other event unchanged. */
export const withText = (event: Event, text: string): Event => {
  if (!isFragment(event) || textOf(event) === text) return event
  if (event.type === "child_event") return { ...event, event: withText(event.event, text) }
  return event.type === "tool_call_delta" ? { ...event, argumentsDelta: text } : ({ ...event, delta: text } as Fragment)
}

/** One event for two unread ones: fragments of the same text are joined. `undefined` if the events stay apart. */
export const joined = (unread: Event, event: Event): Event | undefined =>
  continues(unread, event) ? withText(unread, textOf(unread) + textOf(event)) : undefined
