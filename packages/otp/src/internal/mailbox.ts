/**
 * The messages one process has not taken yet.
 *
 * MBOX1. First in, first out: `shift` and `take` see messages in the order they were pushed.
 * MBOX2. `take` removes the first match and leaves the others in their order.
 */
import type { Receiver } from "./cell.ts"

export class Mailbox {
  #messages: Array<unknown> = []
  #head = 0

  get size(): number {
    return this.#messages.length - this.#head
  }

  push(message: unknown): void {
    this.#messages.push(message)
  }

  shift(): unknown {
    // The only message, as a rule: popping keeps the small array for the next one.
    if (this.#messages.length === 1) return this.#messages.pop()
    const message = this.#messages[this.#head]
    this.#messages[this.#head] = undefined
    this.#head++
    if (this.#head === this.#messages.length) {
      this.#messages.length = 0
      this.#head = 0
    } else if (this.#head > 1024 && this.#head * 2 > this.#messages.length) {
      this.#messages = this.#messages.slice(this.#head)
      this.#head = 0
    }
    return message
  }

  /** The first messages, left where they are. */
  first(count: number): ReadonlyArray<unknown> {
    return this.#messages.slice(this.#head, this.#head + count)
  }

  /** Removes the first message that matches; answers whether there was one, and hands it over. */
  take(receiver: Receiver): boolean {
    for (let index = this.#head; index < this.#messages.length; index++) {
      const message = this.#messages[index]
      if (!receiver.match(message)) continue
      if (index === this.#head) this.shift()
      else this.#messages.splice(index, 1)
      receiver.found(message)
      return true
    }
    return false
  }

  /** Removes every message that matches; answers whether there was one. */
  drop(match: (message: unknown) => boolean): boolean {
    const kept = this.#messages.slice(this.#head).filter((message) => !match(message))
    const dropped = kept.length < this.size
    this.#messages = kept
    this.#head = 0
    return dropped
  }
}
