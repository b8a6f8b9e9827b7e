/**
 * The place of one turn in the events of its chat, for one reader.
 *
 * Owns: the reader's subscription to the state of the chat, while its turn has not begun. Does not own the turn, nor the events.
 *
 * TURNREAD1. A reader of a turn gets its events from the first one, whenever it begins. When the input has joined another turn, the
 *            events of that turn from there on.
 * TURNREAD2. When the turn is over, its reader ends, or rejects with the turn's error. A snapshot comes before, if the turn has ended
 *            well and the reader has missed that.
 * TURNREAD3. When the turn begins to wait, in a chat at rest, for a person's answer, its reader gets one snapshot.
 * TURNREAD4. The subscription ends when the turn begins, is over, or its reader leaves.
 */
import { waitsIn } from "../inbox/index.ts"
import type { AttachedTurn } from "./attachOptions.ts"
import type { EventLog } from "./eventLog.ts"
import type { LiveState } from "./liveState.ts"

export class TurnEvents {
  readonly #turn: AttachedTurn
  readonly #state: LiveState
  #hasBegun = false
  /** Whether the reader has the snapshot of the wait. */
  #isNoticed = false
  /** Whether the reader has the end of the turn. */
  #hasEnd = false
  #unwatch: (() => void) | undefined

  constructor(turn: AttachedTurn, state: LiveState) {
    this.#turn = turn
    this.#state = state
  }

  /** Resolves when the turn is over. */
  get ended(): Promise<void> {
    return this.#turn.ended
  }

  get over(): boolean {
    return this.#turn.over
  }

  /** Whether its events can be read. */
  get hasBegun(): boolean {
    return this.#hasBegun
  }

  /** Whether its reader has the last event, or the snapshot in place of it. */
  get hasEnd(): boolean {
    return this.#hasEnd
  }

  /** Whether its reader, which has no unread event, has everything (TURNREAD2). */
  get isRead(): boolean {
    return this.#turn.over && (this.#hasEnd || this.#turn.failure !== undefined)
  }

  /** The error of the turn, for its reader. */
  get error(): unknown {
    return this.#turn.failure?.error
  }

  /** The place of its first event, when it has begun since the last call. */
  begins(log: EventLog): number | undefined {
    const { id, leader } = this.#turn
    const isRunning = this.#state.context?.turn?.id === id
    if (!isRunning && leader === undefined) return undefined
    this.#hasBegun = true
    this.leave()
    return isRunning ? log.turnStart : log.end
  }

  /** Whether the reader gets a snapshot in place of events: of a wait (TURNREAD3), or of the end that it has missed (TURNREAD2). */
  takesSnapshot(): boolean {
    if (this.#turn.over) {
      if (this.isRead) return false
      this.#hasEnd = true
      return true
    }
    if (this.#hasBegun || this.#isNoticed || !waitsIn(this.#state.context, this.#turn)) return false
    this.#isNoticed = true
    return true
  }

  /** The reader has the last event. */
  hasLast(): void {
    this.#hasEnd = true
  }

  /** Calls the function when the turn may have begun. */
  watch(changed: () => void): void {
    if (!this.#hasBegun && !this.#turn.over) this.#unwatch ??= this.#state.watch(changed)
  }

  leave(): void {
    this.#unwatch?.()
    this.#unwatch = undefined
  }
}
