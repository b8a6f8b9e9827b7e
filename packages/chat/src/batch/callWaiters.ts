/** Those who wait for calls to be over, or to have begun again. */

/** What is waited for. */
export type Awaited = "begun" | "over"

interface Asked<Call> {
  readonly calls: Set<Call>
  readonly until: Awaited
  readonly done: () => void
}

/** Tells each when all of its calls are where it waits for them; a call that is over has no further to go. */
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

  /** Tells those who have nothing left to wait for. */
  answer(): void {
    for (const asked of this.#asked ?? []) {
      if (asked.calls.size > 0) continue
      this.#asked?.delete(asked)
      asked.done()
    }
  }
}
