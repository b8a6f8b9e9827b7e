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
    this.#answer()
  }

  /** No more events will be added. */
  end(): void {
    this.#over = true
    this.#answer()
  }

  pull(outlet: Outlet): void {
    this.#outlet = outlet
    this.#answer()
  }

  exhausted(): void {
    this.#done()
  }

  #answer(): void {
    const outlet = this.#outlet
    if (outlet === undefined) return
    const event = this.#waiting.shift()
    if (event === undefined && !this.#over) return
    this.#outlet = undefined
    if (event === undefined) outlet.exhaust(this)
    else outlet.emit(this, event)
  }
}
