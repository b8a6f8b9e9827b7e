/** Waits until calls are over, or have begun again. */

/** The point that a waiter waits for. */
export type Awaited = "begun" | "over"

interface Asked<Call> {
  readonly calls: Set<Call>
  readonly until: Awaited
  readonly done: () => void
}

/** Calls `done` of a waiter when all of its calls have reached its point. A call that is over has reached both points. */
export class CallWaiters<Call> {
  #asked: Set<Asked<Call>> | undefined

  add(calls: ReadonlyArray<Call>, until: Awaited, done: () => void): void {
    this.#asked ??= new Set()
    this.#asked.add({ calls: new Set(calls), until, done })
  }

  reached(call: Call, point: Awaited): void {
    if (this.#asked === undefined) return
    for (const { calls, until } of this.#asked) if (point === "over" || until === point) calls.delete(call)
    this.answer()
  }

  /** Calls `done` of each waiter without remaining calls. */
  answer(): void {
    for (const asked of this.#asked ?? []) {
      if (asked.calls.size > 0) continue
      this.#asked?.delete(asked)
      asked.done()
    }
  }
}
