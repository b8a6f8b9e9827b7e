/**
 * Words at a fixed pace, for any number of streams. Both servers use it, so the source of the words makes no difference.
 *
 * Each word has its index and its time, on a clock that all processes of the computer share: `@3:1234567@`.
 */
import { setTimeout } from "node:timers/promises"

/** Now, in microseconds, on a clock that all processes of the computer share. */
export const nowMicros = (): number => Number(process.hrtime.bigint() / 1_000n)

const filler = " the quick brown fox jumps over it"

/** When a stream is later than this, its next words keep their distance from then on instead of coming all at once. */
const latestMs = 1_000

/** Feeds streams, each with so many words a second from its start. */
export class Pace {
  readonly #everyMs: number
  /** The number of streams that are being read, and of those that were started. */
  open = 0
  begun = 0
  #isOver = false

  constructor(wordsPerSecond: number) {
    this.#everyMs = 1_000 / wordsPerSecond
  }

  /** Ends all streams after their next word. */
  end(): void {
    this.#isOver = true
  }

  /** The words of one stream. */
  async *words(count: number): AsyncGenerator<string, void> {
    this.open += 1
    this.begun += 1
    let due = performance.now()
    try {
      for (let word = 0; word < count && !this.#isOver; word++) {
        const now = performance.now()
        due = now - due > latestMs ? now : due + this.#everyMs
        if (due > now) await setTimeout(due - now)
        yield `@${word}:${nowMicros()}@${filler}`
      }
    } finally {
      this.open -= 1
    }
  }
}
