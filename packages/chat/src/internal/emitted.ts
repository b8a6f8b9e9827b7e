/**
 * An actor that puts a phase's own events on the outlet, and says `events.taken` when the reader asked past the last.
 */
import { fromCallback } from "xstate"
import type { Event } from "../Event.ts"
import type { Outlet } from "./outlet.ts"
import { QueueSource } from "./queueSource.ts"

/** Which events, and where. */
export interface EmittedInput {
  readonly outlet: Outlet
  readonly events: ReadonlyArray<Event>
}

/** The reader has taken the events of this phase. */
export interface EventsTaken {
  readonly type: "events.taken"
}

/** Emits events; stopped, it takes back what nobody read. */
export const emitted = fromCallback<{ readonly type: "never" }, EmittedInput>(({ input, sendBack }) => {
  const taken: EventsTaken = { type: "events.taken" }
  const source = new QueueSource(() => sendBack(taken))
  source.push(...input.events)
  source.end()
  input.outlet.attach(source)
  return () => input.outlet.detach(source)
})
