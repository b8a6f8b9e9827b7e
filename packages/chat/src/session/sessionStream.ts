/**
 * The reader of a session's turn: its events, and at any time the session after the events read so far.
 *
 * Owns: nothing. Does not own the turn, which runs only while its events are read, nor its progress.
 *
 * SSTR1. A streamed step ends with `step_completed`, also when the machine emits more events.
 */
import { Channel } from "@troupe/otp"
import type { Event, EventStream } from "../events/index.ts"
import type { Session } from "./sessionState.ts"
import type { ResultOf, SessionMode } from "./sessionOutcome.ts"
import type { TurnProgress } from "./turnProgress.ts"

/**
 * The events of a session's turn, for one reader, and the session after it.
 *
 * **Details**: the input of the turn is committed: `session()` has it from the start, so a turn that is left, or whose
 * request fails, loses no message.
 */
export class SessionStream<Mode extends SessionMode = "chat"> extends Channel.Reader<Event> {
  readonly #events: EventStream
  readonly #progress: TurnProgress
  readonly #mode: Mode

  constructor(events: EventStream, progress: TurnProgress, mode: Mode) {
    super()
    this.#events = events
    this.#progress = progress
    this.#mode = mode
  }

  /** The session after the events read so far; after the last event, the session after the turn. */
  session(): Session {
    return this.#progress.session
  }

  /** The result after the events read so far. */
  result(): ResultOf[Mode] {
    return this.#progress.result as ResultOf[Mode]
  }

  /** Resolves with the next event of the turn; the first call starts the turn. Rejects with the error that ended it. */
  async next(): Promise<IteratorResult<Event, undefined>> {
    const next = await this.#events.next()
    if (next.done === true) return next
    if (this.#mode === "step" && next.value.type === "chat_completed") return this.next()
    this.#progress.apply(next.value)
    return next
  }

  /** Cancels the turn, and resolves when it has ended. */
  return(): Promise<IteratorResult<Event, undefined>> {
    return this.#events.return()
  }
}
