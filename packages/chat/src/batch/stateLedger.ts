/**
 * The state of a batch: the state that each call starts with, and the folding of the states that calls return.
 *
 * @module
 */
import { fold, mistaken } from "./stateMerge.ts"
import type { DispatchState } from "./dispatchState.ts"

/** Keeps the state of a batch. */
export interface Ledger<State> {
  /** The present state. */
  readonly state: State
  /** The state that a call starts with. */
  given(position: number): State
  /** Records the end of a call: the state that it started with, and the state that it returned. */
  ended(position: number, given: State, returned: State, halted: boolean): void
  /** Records the end of a call that returned no state. */
  failed(position: number): void
  /** Folds all remaining changes. */
  close(): void
}

/**
 * Folds the calls' changes in call order.
 *
 * LEDG1. The state is the initial state with the changes of the first calls, up to the first call that is not over.
 * LEDG2. Every change is folded exactly once, and then discarded.
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

  ended(position: number, initial: State, returned: State): void {
    this.#changes[position] = (state) => fold(state, initial, returned)
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
 * The state of the original dispatcher.
 *
 * LEDG3. A call that is not a read passes on its whole state, also when it halts.
 * LEDG4. All reads start with the state before the first read. Of the states that reads return, only a lower mistake
 *        counter and the budget of the last read to end count. The state of a read that halts is discarded.
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
    // A call without a result does not change the state.
  }

  close(): void {
    // Every change was folded when it came.
  }

  #counting({ budget, consecutiveMistakes: mistakes }: State): DispatchState {
    const { consecutiveMistakes: least } = this.#state
    return {
      ...(budget === undefined || budget === null ? {} : { budget }),
      ...(mistakes === undefined || least === undefined || mistakes >= least ? {} : { consecutiveMistakes: mistakes })
    }
  }
}
