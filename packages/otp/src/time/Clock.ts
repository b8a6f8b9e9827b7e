/**
 * The time of a system.
 *
 * Every timer of a system goes through its clock, those of its machines and fibers too: with a test clock a system
 * stands still until it is told how much time has passed.
 */
import { TimerHeap } from "./timerHeap.ts"
import type { TimerEntry } from "./timerHeap.ts"
import { macrotask, settle } from "./macrotask.ts"

/**
 * Tells the time and runs functions later.
 *
 * **Units and defaults**
 *
 * Milliseconds. `now` counts from the Unix epoch.
 */
export interface Clock {
  now(): number
  /** Runs a function once, not before so many milliseconds have passed, at once for less than 0; refuses `NaN`. */
  setTimeout(run: () => void, ms: number): unknown
  /** Forgets a function that has not run; anything else is ignored. */
  clearTimeout(id: unknown): void
  /**
   * As `setTimeout`, for what nobody waits for: it keeps no program alive, and a test clock does not count it. A clock may
   * have no such timers.
   */
  setBackgroundTimeout?(run: () => void, ms: number): unknown
}

/** A clock that stands still until it is told how much time has passed. */
export interface TestClock extends Clock {
  /** How many timers are waiting. */
  readonly pending: number
  /**
   * Lets time pass: runs the timers that become due, one by one, and lets everything they set off settle.
   *
   * **Errors**
   *
   * Rejects with a `RangeError` for a time that is below 0 or endless.
   */
  advance(ms: number): Promise<void>
  /**
   * Lets as much time pass as some work needs, timer by timer, and answers what the work comes to.
   *
   * **Errors**
   *
   * Rejects when the work is not done and nothing waits for this clock: it waits for something else, or for ever.
   */
  run<A>(work: PromiseLike<A>): Promise<A>
}

/** CLOCK3. A time that cannot be compared would come before and after every other: it is refused. */
const delayOf = (ms: number): number => {
  if (Number.isNaN(ms)) throw new RangeError("NaN ms is no time to wait: give a number of milliseconds")
  return Math.max(0, ms)
}

const isEntry = (id: unknown): id is TimerEntry => typeof id === "object" && id !== null && "index" in id

/** A host whose timers keep its program alive lets a timer say that it does not. */
const releaseHeld = (id: unknown): void => {
  if (typeof id === "object" && id !== null && "unref" in id && typeof id.unref === "function") id.unref()
}

/** A timer of a clock that nothing holds on to. */
class Background {
  readonly clear: () => void

  constructor(clear: () => void) {
    this.clear = clear
  }
}

const clearBackground = (id: unknown): void => {
  if (id instanceof Background) id.clear()
}

const longestHostTimeout = 2_147_483_647
const epoch = performance.timeOrigin

/**
 * CLOCK1. While a timer waits, a timer of the host is due no later than it. Those of the background have one of their own,
 *         which holds no program.
 * CLOCK2. When none waits, the host's timer is gone after the present turn of the event loop: a call that is answered at
 *         once, and then another, do not make and drop one each.
 */
class LiveClock implements Clock {
  readonly #holds: boolean
  #background: LiveClock | undefined
  readonly #timers = new TimerHeap()
  #host: { readonly id: ReturnType<typeof setTimeout>; readonly due: number } | undefined
  #leaving = false

  constructor(holds = true) {
    this.#holds = holds
  }

  now(): number {
    return epoch + performance.now()
  }

  setTimeout(run: () => void, ms: number): unknown {
    const entry = this.#timers.add(performance.now() + delayOf(ms), run)
    if (this.#timers.peek() === entry) this.#arm()
    return entry
  }

  clearTimeout(id: unknown): void {
    if (!isEntry(id)) return clearBackground(id)
    this.#timers.remove(id)
    if (this.#timers.size > 0 || this.#leaving) return
    this.#leaving = true
    macrotask(this.#leave)
  }

  setBackgroundTimeout(run: () => void, ms: number): unknown {
    const background = (this.#background ??= new LiveClock(false))
    const id = background.setTimeout(run, ms)
    return new Background(() => background.clearTimeout(id))
  }

  readonly #leave = (): void => {
    this.#leaving = false
    if (this.#timers.size === 0) this.#disarm()
  }

  #disarm(): void {
    if (this.#host !== undefined) clearTimeout(this.#host.id)
    this.#host = undefined
  }

  #arm(): void {
    const next = this.#timers.peek()
    if (next === undefined || (this.#host !== undefined && this.#host.due <= next.due)) return
    this.#disarm()
    const delay = Math.min(longestHostTimeout, Math.max(1, Math.ceil(next.due - performance.now())))
    this.#host = { id: setTimeout(() => this.#fire(), delay), due: next.due }
    if (!this.#holds) releaseHeld(this.#host.id)
  }

  #fire(): void {
    this.#host = undefined
    const now = performance.now()
    try {
      for (let next = this.#timers.peek(); next !== undefined && next.due <= now; next = this.#timers.peek()) {
        this.#timers.remove(next)
        next.run()
      }
    } finally {
      this.#arm()
    }
  }
}

/** How often a clock that nothing waits for looks again, each time after some turns of the event loop. */
const patience = 20

class ManualClock implements TestClock {
  readonly #timers = new TimerHeap()
  readonly #background = new TimerHeap()
  #now = 0

  get pending(): number {
    return this.#timers.size
  }

  now(): number {
    return this.#now
  }

  setTimeout(run: () => void, ms: number): unknown {
    return this.#timers.add(this.#now + delayOf(ms), run)
  }

  clearTimeout(id: unknown): void {
    if (isEntry(id)) this.#timers.remove(id)
    else clearBackground(id)
  }

  setBackgroundTimeout(run: () => void, ms: number): unknown {
    const entry = this.#background.add(this.#now + delayOf(ms), run)
    return new Background(() => this.#background.remove(entry))
  }

  async advance(ms: number): Promise<void> {
    if (!(ms >= 0 && Number.isFinite(ms))) {
      throw new RangeError(`a clock cannot be advanced by ${ms} ms: give a finite number, 0 or more`)
    }
    const end = this.#now + ms
    await settle()
    for (let next = this.#take(end); next !== undefined; next = this.#take(end)) {
      this.#now = Math.max(this.#now, next.due)
      next.run()
      await settle()
    }
    this.#now = end
  }

  /** Takes out the timer that is due first, of the background too. */
  #take(end: number): TimerEntry | undefined {
    const [one, other] = [this.#timers.peek(), this.#background.peek()]
    const isOfBackground = other !== undefined && (one === undefined || other.due < one.due)
    const next = isOfBackground ? other : one
    if (next === undefined || next.due > end) return undefined
    ;(isOfBackground ? this.#background : this.#timers).remove(next)
    return next
  }

  async run<A>(work: PromiseLike<A>): Promise<A> {
    const watched = { done: false }
    const end = Promise.resolve(work).finally(() => {
      watched.done = true
    })
    // Whoever is told of the standstill is not told of the work's end as well.
    end.catch(() => undefined)
    for (let standstills = 0; !watched.done && standstills < patience; standstills++) {
      await settle()
      const next = this.#timers.peek()
      if (next === undefined || next.due === Number.POSITIVE_INFINITY || watched.done) continue
      standstills = -1
      await this.advance(next.due - this.#now)
    }
    if (!watched.done) {
      throw new Error(
        `The work is not done at ${this.#now} ms, and nothing waits for the clock: it waits for something else`
      )
    }
    return end
  }
}

/**
 * The host's time.
 *
 * **Details**
 *
 * All timers of all systems share one timer of the host, which keeps the host alive while any is waiting.
 */
export const live: Clock = new LiveClock()

/** Makes a clock that starts at 0 and stands still until it is advanced. */
export const test = (): TestClock => new ManualClock()
