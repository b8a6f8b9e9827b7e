/**
 * The output of a chat's events, with backpressure, and sources of queued events.
 *
 * Owns: the current source, and the channel of its reader. Does not own the sources: phase A attaches the adapter's
 * stream, phase B the tool batch, phase C the closing event, each when the source before is exhausted.
 *
 * OUT1. There is at most one source; events of a source that was detached or exhausted are discarded.
 * OUT2. A source is pulled only when the reader waits: nothing is read ahead. `exhausted` of a source is called only
 *       when the reader pulls past its last event, so the next phase does not begin before that pull. A flushed outlet
 *       (its turn was cancelled) pulls bounded sources without its reader and keeps their events, before the end or the
 *       failure. A model's stream is still pulled only by the reader.
 * OUT3. `next` settles with an event, the end, or the failure. After `close` every `next` resolves with the end. `released`
 *       resolves when all held resources are released, or at its deadline.
 * OUT4. A driven outlet (of a living chat) is its own reader and publishes every event at once. Its driver passes the
 *       events and the end to the channel.
 * OUT6. Events that are always ready do not block the event loop, whether the reader gets them or not.
 */
import { Channel, type Clock, EventLoop, type System } from "@troupe/otp"
import type { Event } from "./Event.ts"

/** A source of events. `pull` is called once for each requested event. */
export interface Source {
  readonly pull: (outlet: Outlet) => void
  /** The reader pulled past the last event. */
  readonly exhausted: () => void
  /** Whether the number of events is bounded, so that they can be kept for a slow reader (OUT2). */
  readonly isBounded?: boolean
}

/** The time is read after `checkEvery` events, and the outlet yields to the event loop after `holdMs` milliseconds. */
const checkEvery = 128
const holdMs = 8

interface Failure {
  readonly error: unknown
}

/** Joins two unread events into one, or returns `undefined` to keep both. */
export type Join = NonNullable<Channel.Options<Event>["join"]>

/** Passes a chat's events to its one reader. */
export class Outlet {
  /** The events for the reader. */
  readonly events: Channel.Channel<Event>
  #source: Source | undefined
  #publish: ((event: Event) => void) | undefined
  #onEnd: ((failure: Failure | undefined) => void) | undefined
  #isOver = false
  #failure: Failure | undefined
  /** Whether a pull of the source is pending. */
  #outstanding = false
  #isPulling = false
  #pullAgain = false
  /** The events since the time was read last, and the time of the last yield to the event loop (OUT6). */
  #burst = 0
  #burstSince = 0
  readonly #holdMs: number
  #held = 0
  #begun = false
  #onReleased: (() => void) | undefined
  /** Whether bounded sources are pulled without a waiting reader (OUT2). */
  #isFlushed = false

  /**
   * `join` is the rule of the channel for unread events. With `holdMsAtMost` 0 the outlet yields to the event loop by the
   * count of events alone.
   */
  constructor(join?: Join, holdMsAtMost = holdMs) {
    this.#holdMs = holdMsAtMost
    this.events = new Channel.Channel({
      join,
      onDemand: () => {
        if (this.#publish === undefined) this.#pull()
      }
    })
  }

  /** Begins to take events from `source`. */
  attach(source: Source): void {
    this.#source = source
    this.#outstanding = false
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
    if (this.#publish === undefined) this.events.push(event)
    else if (!this.#isOver) this.#publish(event)
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
    return this.events.next()
  }

  /** Whether the outlet was closed or has failed. */
  get over(): boolean {
    return this.#isOver
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

  /** Pulls bounded sources without waiting for the reader (OUT2). */
  flush(): void {
    if (this.#isFlushed || this.#isOver) return
    this.#isFlushed = true
    this.#pull()
  }

  /** Calls `onEnd` once, when the outlet is closed or fails; at once, if it has ended. */
  whenEnded(onEnd: (failure: Failure | undefined) => void): void {
    if (this.#isOver) onEnd(this.#failure)
    else this.#onEnd = onEnd
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
    this.#end(undefined)
  }

  /** No more events: the reader leaves, and kept events are discarded. */
  leave(): void {
    this.#end(undefined)
    this.events.close()
  }

  /** No more events, because of `error`. */
  fail(error: unknown): void {
    this.#end({ error })
  }

  #end(failure: Failure | undefined): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#failure = failure
    this.#source = undefined
    if (this.#publish === undefined) {
      if (failure === undefined) this.events.end()
      else this.events.fail(failure.error)
    }
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
        const source = this.#source
        if (source === undefined || this.#outstanding) continue
        const isDriven = this.#publish !== undefined || (this.#isFlushed && source.isBounded === true)
        if (!isDriven && !this.events.isAwaited) continue
        this.#outstanding = true
        if (++this.#burst >= checkEvery && this.#hasHeldThread()) this.#pullLater(source)
        else source.pull(this)
      }
    } finally {
      this.#isPulling = false
    }
  }

  /** Whether events have followed one another for so long that the outlet yields to the event loop (OUT6). */
  #hasHeldThread(): boolean {
    this.#burst = 0
    const now = performance.now()
    const held = now - this.#burstSince >= this.#holdMs
    if (held) this.#burstSince = now
    return held
  }

  #pullLater(source: Source): void {
    EventLoop.nextTurn(() => {
      if (this.#source === source) source.pull(this)
    })
  }
}

/** Makes an outlet for a system. With a seed the outlet is deterministic: it does not depend on the host's speed. */
export const outletIn = (system: System.System, join?: Join): Outlet =>
  new Outlet(join, system.seed === undefined ? holdMs : 0)

/** A queue of events with an end. */
export class QueueSource implements Source {
  readonly isBounded = true
  readonly #waiting: Channel.Fifo<Event>
  readonly #done: () => void
  #outlet: Outlet | undefined
  #over = false

  /** `waiting` is the queue; an owner that outlives the source may pass its own. */
  constructor(done: () => void, waiting: Channel.Fifo<Event> = new Channel.Fifo<Event>()) {
    this.#waiting = waiting
    this.#done = done
  }

  /** Adds events; after `end` they are discarded. */
  push(...events: ReadonlyArray<Event>): void {
    if (this.#over) return
    for (const event of events) this.#waiting.push(event)
    if (this.#outlet !== undefined) this.#answer(this.#outlet)
  }

  /** No more events will be added. */
  end(): void {
    this.#over = true
    if (this.#outlet !== undefined) this.#answer(this.#outlet)
  }

  pull(outlet: Outlet): void {
    this.#answer(outlet)
  }

  exhausted(): void {
    this.#done()
  }

  #answer(outlet: Outlet): void {
    const event = this.#waiting.shift()
    this.#outlet = event === undefined && !this.#over ? outlet : undefined
    if (event !== undefined) outlet.emit(this, event)
    else if (this.#over) outlet.exhaust(this)
  }
}

/** Emits the events of a phase itself; `taken` is called when the reader pulls past the last event. */
export const emit = (outlet: Outlet, events: ReadonlyArray<Event>, taken: () => void = () => {}): void => {
  const source = new QueueSource(taken)
  source.push(...events)
  source.end()
  outlet.attach(source)
}
