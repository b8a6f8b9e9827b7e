/**
 * The state of a batch: what each call starts with, and what becomes of what it returns.
 *
 * @module
 */
import { fold, mistaken } from "./stateMerge.ts"
import type { DispatchState } from "./dispatchState.ts"

/** Keeps the state of a batch. */
export interface Ledger<State> {
  /** The state as it stands. */
  readonly state: State
  /** What a call starts with. */
  given(position: number): State
  /** A call is over: what it started with, and what it returned. */
  ended(position: number, given: State, returned: State, halted: boolean): void
  /** A call is over and left no state. */
  failed(position: number): void
  /** No call in front of this one is to be waited for any more. */
  close(): void
}

/**
 * Folds the calls' changes in call order.
 *
 * LEDG1. The state is what all calls in a row made of the first one, beginning with the first call, as far as they are over.
 * LEDG2. Every change is folded once, and forgotten then.
 */
export class EffectsLedger<State extends DispatchState> implements Ledger<State> {
  #state: State
  readonly #changes: Array<((state: State) => State) | undefined>
  #next = 0

  constructor(state: State, count: number) {
    this.#state = state
    this.#changes = Array.from({ length: count }, () => undefined)
  }

  get state(): State {
    return this.#state
  }

  given(): State {
    return this.#state
  }

  ended(position: number, given: State, returned: State): void {
    this.#changes[position] = (state) => fold(state, given, returned)
    this.#fold()
  }

  failed(position: number): void {
    this.#changes[position] = mistaken
    this.#fold()
  }

  close(): void {
    for (; this.#next < this.#changes.length; this.#next++) this.#foldNext()
  }

  #fold(): void {
    while (this.#changes[this.#next] !== undefined) {
      this.#foldNext()
      this.#next++
    }
  }

  #foldNext(): void {
    const change = this.#changes[this.#next]
    if (change === undefined) return
    this.#changes[this.#next] = undefined
    this.#state = change(this.#state)
  }
}

/**
 * The state as the original dispatcher has it.
 *
 * LEDG3. What is no read hands its whole state on, a halt as well.
 * LEDG4. All reads start with the state as it stood before the first of them. Of what they return counts a mistake counter
 *        that is lower, and the budget, that of the last to end; of a read that halts, nothing.
 */
export class ReferenceLedger<State extends DispatchState> implements Ledger<State> {
  #state: State
  #snapshot: State | undefined
  readonly #isRead: (position: number) => boolean

  constructor(state: State, isRead: (position: number) => boolean) {
    this.#state = state
    this.#isRead = isRead
  }

  get state(): State {
    return this.#state
  }

  given(position: number): State {
    if (!this.#isRead(position)) return this.#state
    this.#snapshot ??= this.#state
    return this.#snapshot
  }

  ended(position: number, _given: State, returned: State, halted: boolean): void {
    if (!this.#isRead(position)) this.#state = returned
    else if (!halted) this.#state = { ...this.#state, ...this.#counting(returned) }
  }

  failed(): void {
    // A call without a result costs nothing.
  }

  close(): void {
    // Every change counted when it came.
  }

  #counting({ budget, consecutiveMistakes: mistakes }: State): DispatchState {
    const { consecutiveMistakes: least } = this.#state
    return {
      ...(budget === undefined || budget === null ? {} : { budget }),
      ...(mistakes === undefined || least === undefined || mistakes >= least ? {} : { consecutiveMistakes: mistakes })
    }
  }
}
