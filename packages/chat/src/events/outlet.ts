/**
 * The output of a chat's events, with backpressure.
 *
 * Owns: the current source, and the reader's pending pulls. Does not own the sources: phase A attaches the adapter's
 * stream, phase B the tool batch, phase C the closing event, each when the source before is exhausted.
 *
 * OUT1. There is at most one source; events of a source that was detached or exhausted are discarded.
 * OUT2. A source is pulled only when the reader waits: nothing is read ahead. `exhausted` of a source is called only
 *       when the reader pulls past its last event, so the next phase does not begin before that pull.
 * OUT3. `next` settles with an event, the end, or the failure. After `close` every `next` resolves with the end.
 * OUT4. A driven outlet (of a living chat) is its own reader and publishes every event at once.
 * OUT5. `released` resolves when all held resources are released, or at its deadline.
 * OUT6. Events that are always ready do not block the event loop, whether the reader gets them or not.
 * OUT7. A flushed outlet (its turn was cancelled) pulls bounded sources without its reader and keeps their events, before
 *       the end or the failure. A model's stream is still pulled only by the reader.
 */
import { type Clock, EventLoop, type System } from "@troupe/otp"
import type { Event } from "./Event.ts"
import { Fifo } from "../async/index.ts"

/** A source of events. `pull` is called once for each requested event. */
export interface Source {
  readonly pull: (outlet: Outlet) => void
  /** The reader pulled past the last event. */
  readonly exhausted: () => void
  /** Whether the number of events is bounded, so that they can be kept for a slow reader (OUT7). */
  readonly isBounded?: boolean
}

const ended: IteratorReturnResult<undefined> = { done: true, value: undefined }

/** An outlet reads the time after `checkEvery` events, and yields to the event loop after `holdMs` milliseconds. */
const checkEvery = 128
const holdMs = 8

interface Reader {
  readonly resolve: (result: IteratorResult<Event, undefined>) => void
  readonly reject: (error: unknown) => void
}

interface Failure {
  readonly error: unknown
}

/** Passes a chat's events to its one reader. */
export class Outlet {
  #source: Source | undefined
  readonly #readers: Array<Reader> = []
  #publish: ((event: Event) => void) | undefined
  #onEnd: ((failure: Failure | undefined) => void) | undefined
  #state: "open" | "closed" | Failure = "open"
  #opened: Reader | undefined
  #wasOpened = false
  /** Whether a pull of the source is pending. */
  #outstanding = false
  #isPulling = false
  #pullAgain = false
  readonly #holdMs: number
  #burst = 0
  #burstStart = 0
  #held = 0
  #begun = false
  #onReleased: (() => void) | undefined
  /** The flushed events that are not read yet (OUT7). */
  #kept: Fifo<Event> | undefined

  /** With `holdMsAtMost` 0 the outlet yields to the event loop by the count of events alone. */
  constructor(holdMsAtMost = holdMs) {
    this.#holdMs = holdMsAtMost
  }

  /** Resolves when the first source is attached; rejects when the outlet fails before. */
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

  /** A source's answer to a pull: the event is not for the reader, and the pull is repeated (OUT6). */
  skip(source: Source): void {
    if (this.#source !== source) return
    this.#outstanding = false
    this.#pull()
  }

  /** A source's answer to a pull: it has no more events. */
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

  /** Whether the outlet was closed or has failed. */
  get over(): boolean {
    return this.#state !== "open"
  }

  /** Whether a source is attached. */
  get isFlowing(): boolean {
    return this.#source !== undefined
  }

  /** Whether the turn of this outlet has begun. */
  get begun(): boolean {
    return this.#begun
  }

  /** Marks the turn of this outlet as begun. */
  begin(): void {
    this.#begun = true
  }

  /** Makes the outlet its own reader (OUT4). */
  drive(publish: (event: Event) => void): void {
    this.#publish = publish
    this.#pull()
  }

  /** Pulls bounded sources without waiting for the reader (OUT7). */
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

  /** Discards the events that were kept for the reader. */
  forgetKept(): void {
    this.#kept?.clear()
  }

  /** Calls `onEnd` once, when the outlet is closed or fails; at once, if it has ended. */
  whenEnded(onEnd: (failure: Failure | undefined) => void): void {
    if (this.#state === "open") this.#onEnd = onEnd
    else onEnd(typeof this.#state === "object" ? this.#state : undefined)
  }

  /** Holds a resource; the returned function releases it. */
  hold(): () => void {
    this.#held++
    return () => {
      this.#held--
      if (this.#held === 0) this.#onReleased?.()
    }
  }

  /** Resolves when all resources are released, or the time is over. */
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

  /** A source may answer synchronously and so cause a nested pull: a loop keeps the stack from growing. */
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

  /** Whether a source is pulled without a waiting reader: the outlet is driven (OUT4) or flushed (OUT7). */
  #pullsUnasked(source: Source): boolean {
    return this.#publish !== undefined && (this.#kept === undefined || source.isBounded === true)
  }

  /** Whether events have run for so long that the outlet should yield to the event loop. */
  #hasHeldThread(): boolean {
    if (++this.#burst < checkEvery) return false
    this.#burst = 0
    const now = performance.now()
    const held = now - this.#burstStart >= this.#holdMs
    if (held) this.#burstStart = now
    return held
  }
}

/** Makes an outlet for a system. With a seed the outlet is deterministic: it does not depend on the host's speed. */
export const outletIn = (system: System.System): Outlet => (system.seed === undefined ? new Outlet() : new Outlet(0))
