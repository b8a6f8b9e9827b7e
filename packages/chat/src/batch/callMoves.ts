/**
 * Makes the moves of a reply's calls, each time that a call has changed.
 *
 * Owns: why no further call starts. Does not own the calls, nor which of them start (`nextCalls`).
 */
import { type Access, next, type OrderedCall, type OrderRules } from "./nextCalls.ts"

/** What the moves do to calls. Each function can change further calls before it returns. */
export interface MovesOwner<Call> {
  /** Starts a call; `false` if it got no slot, so that no further call starts now. */
  readonly start: (call: Call) => boolean
  /** The call never begins. */
  readonly skip: (call: Call, ended: "cancelled" | "not_started") => void
  /** No call may start now. */
  readonly rest?: (() => void) | undefined
  /** Every call is over or waits. */
  readonly over: () => void
}

/** The moves of a batch. No call starts before `begin`, nor after `stop`. */
export class CallMoves<Call extends OrderedCall> {
  readonly #calls: ReadonlyArray<Call>
  readonly #rules: Pick<OrderRules, "schedule" | "limit">
  readonly #owner: MovesOwner<Call>
  #accesses: ReadonlyArray<Access | undefined> | undefined
  #stopped: OrderRules["stopped"]
  #isMoving = false
  /** Whether a call has changed since the last look for moves. */
  #isStale = false

  constructor(calls: ReadonlyArray<Call>, rules: Pick<OrderRules, "schedule" | "limit">, owner: MovesOwner<Call>) {
    this.#calls = calls
    this.#rules = rules
    this.#owner = owner
  }

  /** Why no further call starts. */
  get stopped(): OrderRules["stopped"] {
    return this.#stopped
  }

  /** Calls may start. A call without an access conflicts with no other call. */
  begin(accesses: ReadonlyArray<Access | undefined>): void {
    this.#accesses = accesses
    this.proceed()
  }

  /** Keeps calls from starting; a cancel comes before any other reason. */
  stop(ended: "cancelled" | "not_started"): void {
    if (this.#stopped !== "cancelled") this.#stopped = ended
  }

  /** A call has changed: makes the next moves, until no call changes any more. */
  proceed(): void {
    this.#isStale = true
    if (this.#isMoving) return
    this.#isMoving = true
    while (this.#isStale) {
      this.#isStale = false
      this.#move()
    }
    this.#isMoving = false
  }

  #move(): void {
    const { schedule, limit } = this.#rules
    const stopped = this.#stopped
    const rules = { schedule, limit: this.#accesses === undefined ? 0 : limit, stopped }
    const { starts, skips, isOver } = next(this.#calls, this.#accesses ?? none, rules)
    for (const index of skips) this.#owner.skip(this.#calls[index] as Call, stopped ?? "not_started")
    for (const index of starts) {
      if (!this.#owner.start(this.#calls[index] as Call) || this.#isStale) return
    }
    if (starts.length === 0) this.#owner.rest?.()
    if (isOver) this.#owner.over()
  }
}

const none: ReadonlyArray<undefined> = []
