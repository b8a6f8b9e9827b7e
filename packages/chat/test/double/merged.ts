/** Events as one who reads them in the largest pieces sees them. */
import type { Event } from "../../src/events/Event.ts"

/** Neighbouring fragments of the same thing as one; fragments without text are left out. */
export const merged = (events: ReadonlyArray<Event>): ReadonlyArray<Event> => {
  const all: Array<Event> = []
  for (const event of events) {
    const last = all.at(-1)
    if (event.type === "text_delta" || event.type === "reasoning_delta") {
      if (last?.type === event.type && last.id === event.id)
        all[all.length - 1] = { ...last, delta: last.delta + event.delta }
      else if (event.delta !== "") all.push(event)
    } else if (event.type === "tool_call_delta") {
      if (last?.type === "tool_call_delta" && last.id === event.id) {
        all[all.length - 1] = { ...last, argumentsDelta: last.argumentsDelta + event.argumentsDelta }
      } else if (event.argumentsDelta !== "") all.push(event)
    } else all.push(event)
  }
  return all
}
