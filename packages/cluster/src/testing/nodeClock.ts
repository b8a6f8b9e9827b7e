/**
 * The clock of one node of a cluster in memory, which can stand still.
 *
 * Owns: the timers that became due while it stood still. Calls the clock of the cluster.
 */
import type { Clock } from "@troupe/otp"

export class NodeClock implements Clock.Clock {
  readonly #clock: Clock.Clock
  #frozenAt: number | undefined
  readonly #due = new Set<() => void>()
  readonly #cancels = new Map<unknown, () => void>()

  constructor(clock: Clock.Clock) {
    this.#clock = clock
  }

  now(): number {
    return this.#frozenAt ?? this.#clock.now()
  }

  setTimeout(run: () => void, ms: number): unknown {
    return this.#set(run, (callback) => this.#clock.setTimeout(callback, ms))
  }

  setBackgroundTimeout(run: () => void, ms: number): unknown {
    const clock = this.#clock
    return this.#set(run, (callback) =>
      clock.setBackgroundTimeout === undefined
        ? clock.setTimeout(callback, ms)
        : clock.setBackgroundTimeout(callback, ms)
    )
  }

  clearTimeout(id: unknown): void {
    this.#cancels.get(id)?.()
  }

  freeze(): void {
    this.#frozenAt ??= this.#clock.now()
  }

  wake(): void {
    this.#frozenAt = undefined
    for (const run of this.#due) run()
  }

  #set(run: () => void, start: (callback: () => void) => unknown): unknown {
    const id = {}
    const fire = (): void => {
      this.#cancels.delete(id)
      this.#due.delete(fire)
      run()
    }
    const timer = start(() => {
      if (this.#frozenAt === undefined) fire()
      else this.#due.add(fire)
    })
    this.#cancels.set(id, () => {
      this.#cancels.delete(id)
      this.#due.delete(fire)
      this.#clock.clearTimeout(timer)
    })
    return id
  }
}
