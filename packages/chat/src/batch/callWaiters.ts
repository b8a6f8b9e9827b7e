/** Waits until calls are over, or have begun again. */

/** Calls `done` of a waiter when all of its calls have reached its point. A call that is over has reached both points. */
export class CallWaiters<Call> {
  #asked: Set<{ readonly calls: Set<Call>; readonly until: "begun" | "over"; readonly done: () => void }> | undefined

  add(calls: ReadonlyArray<Call>, until: "begun" | "over", done: () => void): void {
    this.#asked ??= new Set()
    this.#asked.add({ calls: new Set(calls), until, done })
  }

  reached(call: Call, point: "begun" | "over"): void {
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
