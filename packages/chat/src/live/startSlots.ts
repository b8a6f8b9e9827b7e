/**
 * The slots in which chats are started, where their number is bounded.
 *
 * Owns: the number of free slots, and the starts that wait. Does not own the starts.
 *
 * STARTS1. At most as many chats are started at once as there are slots; the others wait in their order.
 */
import { Channel } from "@troupe/otp"

/** The slots of a Troupe. */
export class StartSlots {
  #free: number
  readonly #waiting = new Channel.Fifo<() => void>()

  /** `Infinity` is no bound. */
  constructor(count: number) {
    this.#free = count
  }

  /** Runs a start when a slot is free. */
  during<A>(start: () => Promise<A>): Promise<A> {
    return this.#free === Infinity ? start() : this.#inSlot(start)
  }

  async #inSlot<A>(start: () => Promise<A>): Promise<A> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await start()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free++
      else next()
    }
  }
}
