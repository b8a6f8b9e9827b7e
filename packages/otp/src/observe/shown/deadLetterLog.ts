/**
 * The messages of one system that reached nobody, or nobody who had a use for them.
 *
 * STRAY1. All are counted; the last `kept` are kept, the oldest first.
 */
import type { DeadLetter } from "../DeadLetters.ts"

const kept = 100

export class StrayMail {
  readonly #letters: Array<DeadLetter> = []
  #next = 0
  dead = 0
  unexpected = 0

  /** Takes a message; answers how many of its kind there were. */
  add(letter: DeadLetter): number {
    this.#letters[this.#next] = letter
    this.#next = (this.#next + 1) % kept
    return letter.kind === "dead" ? ++this.dead : ++this.unexpected
  }

  get letters(): ReadonlyArray<DeadLetter> {
    return [...this.#letters.slice(this.#next), ...this.#letters.slice(0, this.#next)]
  }
}
