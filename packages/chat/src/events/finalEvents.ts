/** Emits a phase's own events to the outlet. */
import type { Event } from "./Event.ts"
import type { Outlet } from "./outlet.ts"
import { QueueSource } from "./queueSource.ts"

/** Emits events; `taken` is called when the reader pulls past the last event. */
export const emit = (outlet: Outlet, events: ReadonlyArray<Event>, taken: () => void = () => {}): void => {
  const source = new QueueSource(taken)
  source.push(...events)
  source.end()
  outlet.attach(source)
}
