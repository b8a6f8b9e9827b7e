/** Emits a phase's own events to the outlet. */
import type { Event } from "./Event.ts"
import type { Outlet } from "./outlet.ts"
import { QueueSource } from "./queueSource.ts"

/** The reader has taken a phase's own events and pulled again. */
export interface EventsTaken {
  readonly type: "events.taken"
}

/** Emits events; `self` receives `events.taken` when the reader pulls past the last event. */
export const emit = (
  outlet: Outlet,
  events: ReadonlyArray<Event>,
  self: { readonly send: (event: EventsTaken) => void }
): void => {
  const source = new QueueSource(() => self.send({ type: "events.taken" }))
  source.push(...events)
  source.end()
  outlet.attach(source)
}
