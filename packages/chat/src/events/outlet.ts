/**
 * The one place a chat's events come out of.
 *
 * Owns: which source events come from now, and the reader's pending pull. Does not own the sources: phase A attaches the
 * adapter's stream, phase B the tool batch, phase C the closing event, each when the one before is exhausted.
 *
 * OUT1. One source at a time; what a source says after it was detached or exhausted is dropped.
 * OUT2. A source is pulled only when the reader waits: nothing is read ahead, and a source is told that it is exhausted
 *       only when the reader asks past its last event. So the next phase does not begin before somebody wants it.
 * OUT3. `next` settles: with an event, the end, or the failure; a closed outlet ends every later `next`.
 * OUT4. Driven (a living chat), the outlet is its own reader and hands every event on at once.
 * OUT5. `released` resolves when all that was held for the sources is released, but never later than its deadline.
 * OUT6. Events that are always ready do not hold up the event loop, whether the reader sees them or not.
 * OUT7. Flushed (its turn was cancelled), the outlet waits for its reader no more: what bounded sources still say is kept
 *       for it, before the end or the failure. A model's stream is still pulled by its reader alone.
 */
import { type Clock, EventLoop, type System } from "@troupe/otp"
import type { Event } from "./Event.ts"
import { Fifo } from "../async/index.ts"

/** Where events come from for a while. `pull` is called once for each event wanted. */
export interface Source {
  readonly pull: (outlet: Outlet) => void
  /** The reader asked past the last event. */
  readonly exhausted: () => void
  /** Whether what it says is bounded, so that it can be kept for a reader who does not read (OUT7). */
  readonly isBounded?: boolean
}

const ended: IteratorReturnResult<undefined> = { done: true, value: undefined }

/** An outlet looks at the host's time after so many events, and lets the event loop turn after so many milliseconds. */
const checkEvery = 128
const holdMs = 8

interface Reader {
  readonly resolve: (result: IteratorResult<Event, undefined>) => void
  readonly reject: (error: unknown) => void
}

interface Failure {
  readonly error: unknown
}

/** Hands a chat's events to its one reader. */
export class Outlet {
  #source: Source | undefined
  readonly #readers: Array<Reader> = []
  #publish: ((event: Event) => void) | undefined
  #onEnd: ((failure: Failure | undefined) => void) | undefined
  #state: "open" | "closed" | Failure = "open"
  #opened: Reader | undefined
  #wasOpened = false
  /** Whether the source owes an answer. */
  #outstanding = false
  #isPulling = false
  #pullAgain = false
  readonly #holdMs: number
  #burst = 0
  #burstStart = 0
  #held = 0
  #begun = false
  #onReleased: (() => void) | undefined
  /** What was flushed and not read yet (OUT7). */
  #kept: Fifo<Event> | undefined

  /** Without a time to hold the thread for, it lets the event loop turn by the count of events alone. */
  constructor(holdMsAtMost = holdMs) {
    this.#holdMs = holdMsAtMost
  }

  /** Resolves when the first source is attached; rejects when there will be none. */
  opened(): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      if (this.#wasOpened) return resolve()
      if (typeof this.#state === "object") return reject(this.#state.error)
      this.#opened = { resolve: () => resolve(), reject }
    })
  }

  /** Begins to take events from `source`. */
  attach(source: Source): void {
    this.#source = source
    this.#outstanding = false
    this.#wasOpened = true
    this.#opened?.resolve(ended)
    this.#opened = undefined
    this.#pull()
  }

  /** Stops taking events from `source` (OUT1). */
  detach(source: Source): void {
    if (this.#source === source) {
      this.#source = undefined
      this.#outstanding = false
    }
  }

  /** A source's answer to a pull. */
  emit(source: Source, event: Event): void {
    if (this.#source !== source) return
    this.#outstanding = false
    if (this.#publish === undefined) this.#readers.shift()?.resolve({ done: false, value: event })
    else if (this.#state === "open") this.#publish(event)
    this.#pull()
  }

  /** A source's answer to a pull: what came is not for the reader, who still waits (OUT6). */
  skip(source: Source): void {
    if (this.#source !== source) return
    this.#outstanding = false
    this.#pull()
  }

  /** A source's answer to a pull: it has no more. */
  exhaust(source: Source): void {
    if (this.#source !== source) return
    this.#source = undefined
    this.#outstanding = false
    source.exhausted()
  }

  /** The next event, for the one reader. */
  next(): Promise<IteratorResult<Event, undefined>> {
    return new Promise((resolve, reject) => {
      const kept = this.#kept?.shift()
      if (kept !== undefined) return resolve({ done: false, value: kept })
      if (this.#state === "closed") return resolve(ended)
      if (typeof this.#state === "object") {
        const { error } = this.#state
        this.#state = "closed"
        return reject(error)
      }
      this.#readers.push({ resolve, reject })
      this.#pull()
    })
  }

  /** Whether it was closed, or failed. */
  get over(): boolean {
    return this.#state !== "open"
  }

  /** Whether events come from somewhere now. */
  get isFlowing(): boolean {
    return this.#source !== undefined
  }

  /** Whether the turn that writes here was taken up. */
  get begun(): boolean {
    return this.#begun
  }

  /** The turn that writes here is taken up. */
  begin(): void {
    this.#begun = true
  }

  /** Makes the outlet its own reader (OUT4). */
  drive(publish: (event: Event) => void): void {
    this.#publish = publish
    this.#pull()
  }

  /** Has bounded sources wait for the reader no more (OUT7). */
  flush(): void {
    if (this.#kept !== undefined || this.#state !== "open") return
    const kept = new Fifo<Event>()
    this.#kept = kept
    this.drive((event) => {
      const reader = this.#readers.shift()
      if (reader === undefined) kept.push(event)
      else reader.resolve({ done: false, value: event })
    })
  }

  /** What was kept for the reader is wanted no more. */
  forgetKept(): void {
    this.#kept?.clear()
  }

  /** Calls `onEnd` once, when the outlet is closed or fails; at once, if it has. */
  whenEnded(onEnd: (failure: Failure | undefined) => void): void {
    if (this.#state === "open") this.#onEnd = onEnd
    else onEnd(typeof this.#state === "object" ? this.#state : undefined)
  }

  /** Counts a resource in; the function given back counts it out. */
  hold(): () => void {
    this.#held++
    return () => {
      this.#held--
      if (this.#held === 0) this.#onReleased?.()
    }
  }

  /** Resolves when everything held is released, or the time is over. */
  released(clock: Clock.Clock, withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.#held === 0) return resolve()
      const timer = clock.setTimeout(resolve, withinMs)
      const others = this.#onReleased
      this.#onReleased = () => {
        others?.()
        clock.clearTimeout(timer)
        resolve()
      }
    })
  }

  /** No more events: the natural end. */
  close(): void {
    this.#end("closed")
  }

  /** No more events, because of `error`. */
  fail(error: unknown): void {
    this.#end({ error })
  }

  #end(state: "closed" | Failure): void {
    if (this.#state !== "open") return
    this.#state = state
    this.#source = undefined
    const failure = typeof state === "object" ? state : undefined
    const readers = this.#readers.splice(0)
    if (failure !== undefined && readers.length > 0) {
      this.#state = "closed"
      readers.shift()?.reject(failure.error)
    }
    for (const reader of readers) reader.resolve(ended)
    if (failure !== undefined) this.#opened?.reject(failure.error)
    this.#opened = undefined
    this.#onEnd?.(failure)
  }

  /** A source that answers at once asks for the next pull from within this one: a loop, so that the stack does not grow. */
  #pull(): void {
    this.#pullAgain = true
    if (this.#isPulling) return
    this.#isPulling = true
    try {
      while (this.#pullAgain) {
        this.#pullAgain = false
        this.#pullOnce()
      }
    } finally {
      this.#isPulling = false
    }
  }

  #pullOnce(): void {
    const source = this.#source
    if (source === undefined || this.#outstanding) return
    if (this.#readers.length === 0 && !this.#pullsUnasked(source)) return
    this.#outstanding = true
    if (this.#hasHeldThread()) {
      return EventLoop.nextTurn(() => {
        if (this.#source === source) source.pull(this)
      })
    }
    source.pull(this)
  }

  /** Whether a source is pulled where nobody waits: by an outlet that is driven (OUT4), or flushed (OUT7). */
  #pullsUnasked(source: Source): boolean {
    return this.#publish !== undefined && (this.#kept === undefined || source.isBounded === true)
  }

  /** Whether events have come without a pause for so long that others should have their turn. */
  #hasHeldThread(): boolean {
    if (++this.#burst < checkEvery) return false
    this.#burst = 0
    const now = performance.now()
    const held = now - this.#burstStart >= this.#holdMs
    if (held) this.#burstStart = now
    return held
  }
}

/** An outlet for what runs in a system; where that has a seed, nothing depends on how fast the host is. */
export const outletIn = (system: System.System): Outlet => (system.seed === undefined ? new Outlet() : new Outlet(0))
