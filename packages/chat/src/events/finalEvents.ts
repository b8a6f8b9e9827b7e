/** Puts a phase's own events on the outlet. */
import type { Event } from "./Event.ts"
import type { Outlet } from "./outlet.ts"
import { QueueSource } from "./queueSource.ts"

/** The reader has taken a phase's own events, and asked for more. */
export interface EventsTaken {
  readonly type: "events.taken"
}

/** Emits events; `self` hears `events.taken` when the reader asked past the last. */
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
