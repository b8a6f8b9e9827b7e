/**
 * The reader's end of a session's turn: its events, and at any time the session they have come to.
 *
 * Owns: the fold of what was read. Does not own the turn, which lives no longer than somebody reads.
 *
 * SSTR1. Every event that was read is folded, and no other: `session` never runs ahead of the reader.
 */
import type { Event, EventStream } from "../events/index.ts"
import type { SessionReducer } from "./SessionReducer.ts"
import type { Session } from "./sessionState.ts"
import type { ResultOf, SessionMode } from "./turnResult.ts"

/**
 * The events of a session's turn, for one reader, and the session after it.
 *
 * **Details**: what the turn begins with is committed: `session()` has it from the start, so a turn that is left, or whose
 * request fails, loses no message.
 */
export class SessionStream<Mode extends SessionMode = "chat"> implements AsyncIterableIterator<Event, undefined> {
  readonly #events: EventStream
  readonly #reducer: SessionReducer<Mode>
  readonly #fold: (next: IteratorResult<Event, undefined>) => IteratorResult<Event, undefined>

  constructor(events: EventStream, reducer: SessionReducer<Mode>) {
    this.#events = events
    this.#reducer = reducer
    this.#fold = (next) => {
      if (next.done !== true) reducer.apply(next.value)
      return next
    }
  }

  /** The session as the events read so far leave it: when all were read, the session after the turn. */
  session(): Session {
    return this.#reducer.finalize().session
  }

  /** The result as the events read so far tell it. */
  result(): ResultOf[Mode] {
    return this.#reducer.finalize().result
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<Event, undefined>> {
    return this.#events.next().then(this.#fold)
  }

  return(): Promise<IteratorResult<Event, undefined>> {
    return this.#events.return()
  }

  throw(error: unknown): Promise<IteratorResult<Event, undefined>> {
    return this.#events.throw(error)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return()
  }
}
