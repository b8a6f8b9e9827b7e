/**
 * The reader of a session's turn: its events, and at any time the session after the events read so far.
 *
 * Owns: the reducer of the events that were read. Does not own the turn, which runs only while its events are read.
 *
 * SSTR1. Every event that was read is reduced, and no other: `session` never runs ahead of the reader.
 */
import { Channel } from "@troupe/otp"
import type { Event, EventStream } from "../events/index.ts"
import type { SessionReducer } from "./SessionReducer.ts"
import type { Session } from "./sessionState.ts"
import type { ResultOf, SessionMode } from "./turnResult.ts"

/**
 * The events of a session's turn, for one reader, and the session after it.
 *
 * **Details**: the input of the turn is committed: `session()` has it from the start, so a turn that is left, or whose
 * request fails, loses no message.
 */
export class SessionStream<Mode extends SessionMode = "chat"> extends Channel.Reader<Event> {
  readonly #events: EventStream
  readonly #reducer: SessionReducer<Mode>
  readonly #fold: (next: IteratorResult<Event, undefined>) => IteratorResult<Event, undefined>

  constructor(events: EventStream, reducer: SessionReducer<Mode>) {
    super()
    this.#events = events
    this.#reducer = reducer
    this.#fold = (next) => {
      if (next.done !== true) reducer.apply(next.value)
      return next
    }
  }

  /** The session after the events read so far; after the last event, the session after the turn. */
  session(): Session {
    return this.#reducer.finalize().session
  }

  /** The result after the events read so far. */
  result(): ResultOf[Mode] {
    return this.#reducer.finalize().result
  }

  next(): Promise<IteratorResult<Event, undefined>> {
    return this.#events.next().then(this.#fold)
  }

  return(): Promise<IteratorResult<Event, undefined>> {
    return this.#events.return()
  }
}
