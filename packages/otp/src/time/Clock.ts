/**
 * The time of a system.
 *
 * Every timer of a system uses its clock, including those of its machines and fibers. With a test clock, time passes only
 * when the test advances it.
 */
import { macrotask, settle, TimerQueue, WaitingTimer } from "./timerQueue.ts"

/** Returns the time and runs functions later. */
export interface Clock {
  /** The milliseconds since the Unix epoch. */
  now(): number
  /** Runs a function once, after at least so many milliseconds, at once for less than 0. Throws for `NaN`. */
  setTimeout(run: () => void, ms: number): unknown
  /** Cancels a function that has not run; any other value is ignored. */
  clearTimeout(id: unknown): void
  /**
   * Like `setTimeout`, for work that nothing waits for: the timer does not keep the program alive, and a test clock does
   * not count it in `pending`. Optional.
   */
  setBackgroundTimeout?(run: () => void, ms: number): unknown
}

/** A clock whose time passes only through `advance` and `run`. */
export interface TestClock extends Clock {
  /** The number of waiting timers. */
  readonly pending: number
  /**
   * Advances the time: runs the due timers one by one, and waits after each until its effects have settled.
   *
   * **Errors**
   *
   * Rejects with a `RangeError` for a negative or infinite time.
   */
  advance(ms: number): Promise<void>
  /**
   * Advances the time, timer by timer, until some work is done, and resolves with the result of the work.
   *
   * **Errors**
   *
   * Rejects when the work is not done and no timer of this clock waits: the work waits for something else, or forever.
   */
  run<A>(work: PromiseLike<A>): Promise<A>
}

/** CLOCK3. A time that cannot be compared has no place in the order of timers, so `NaN` is refused. */
const delayOf = (ms: number): number => {
  if (Number.isNaN(ms)) throw new RangeError("NaN ms is no time to wait: give a number of milliseconds")
  return Math.max(0, ms)
}

/** Calls `unref`, if the host's timer has it, so that the timer does not keep the program alive. */
const releaseHeld = (id: unknown): void => {
  if (typeof id === "object" && id !== null && "unref" in id && typeof id.unref === "function") id.unref()
}

/** The id of a background timer. */
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
 * CLOCK1. While a timer waits, a host timer is due no later than it. Background timers share a separate host timer,
 *         which does not keep the program alive.
 * CLOCK2. When no timer waits, the host timer is removed after the current turn of the event loop. So a series of calls
 *         with immediate replies does not make and remove one host timer each.
 */
class LiveClock implements Clock {
  readonly #holds: boolean
  #background: LiveClock | undefined
  readonly #timers = new TimerQueue()
  #host: { readonly id: ReturnType<typeof setTimeout>; readonly due: number } | undefined
  #leaving = false

  constructor(holds = true) {
    this.#holds = holds
  }

  now(): number {
    return epoch + performance.now()
  }

  setTimeout(run: () => void, ms: number): unknown {
    const entry = this.#timers.add(performance.now(), delayOf(ms), run)
    if (this.#timers.first === entry) this.#arm()
    return entry
  }

  clearTimeout(id: unknown): void {
    if (!(id instanceof WaitingTimer)) return clearBackground(id)
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
    const next = this.#timers.first
    if (next === undefined || (this.#host !== undefined && this.#host.due <= next.due)) return
    if (this.#host !== undefined) this.#disarm()
    const delay = Math.min(longestHostTimeout, Math.max(1, Math.ceil(next.due - performance.now())))
    this.#host = { id: setTimeout(() => this.#fire(), delay), due: next.due }
    if (!this.#holds) releaseHeld(this.#host.id)
  }

  #fire(): void {
    this.#host = undefined
    const now = performance.now()
    try {
      for (let next = this.#timers.first; next !== undefined && next.due <= now; next = this.#timers.first) {
        this.#timers.remove(next)
        next.run()
      }
    } finally {
      this.#arm()
    }
  }
}

/** How often `run` retries while no timer waits, each time after several turns of the event loop. */
const patience = 20

class ManualClock implements TestClock {
  readonly #timers = new TimerQueue()
  readonly #background = new TimerQueue()
  #now = 0

  get pending(): number {
    return this.#timers.size
  }

  now(): number {
    return this.#now
  }

  setTimeout(run: () => void, ms: number): unknown {
    return this.#timers.add(this.#now, delayOf(ms), run)
  }

  clearTimeout(id: unknown): void {
    if (id instanceof WaitingTimer) this.#timers.remove(id)
    else clearBackground(id)
  }

  setBackgroundTimeout(run: () => void, ms: number): unknown {
    const entry = this.#background.add(this.#now, delayOf(ms), run)
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

  /** Removes and returns the timer that is due first, background timers included. */
  #take(end: number): WaitingTimer | undefined {
    const [one, other] = [this.#timers.first, this.#background.first]
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
    // When `run` throws its own error below, a rejection of the work is not reported as unhandled.
    end.catch(() => undefined)
    for (let standstills = 0; !watched.done && standstills < patience; standstills++) {
      await settle()
      const next = this.#timers.first
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
 * All timers of all systems share one host timer, which keeps the host alive while any of them waits.
 */
export const live: Clock = new LiveClock()

/** Makes a clock that starts at 0 and advances only when it is called. */
export const test = (): TestClock => new ManualClock()
