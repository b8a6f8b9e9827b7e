/** A source with a queue: pushed events wait until they are pulled. */
import type { Event } from "./Event.ts"
import { Channel } from "@troupe/otp"
import type { Outlet, Source } from "./outlet.ts"

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
