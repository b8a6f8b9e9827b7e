/**
 * Words that come at a pace, for any number of streams: both servers are fed by it, so that what differs is not the feeding.
 *
 * Each word says its place, and when it was said, on a clock that all processes of the computer share: `@3:1234567@`.
 */

/** Now, in microseconds, on a clock that all processes of the computer share. */
export const nowMicros = (): number => Number(process.hrtime.bigint() / 1_000n)

const filler = " the quick brown fox jumps over it"

/** A stream that is later than this has its next words at their distance from then on, and not all at once. */
const latestMs = 1_000

/** Feeds streams, each so many words a second from when it was begun. */
export class Pace {
  readonly #everyMs: number
  /** Those who wait for a word, by the millisecond it is due in. */
  readonly #due = new Map<number, Array<() => void>>()
  #timer: NodeJS.Timeout | undefined
  #told = 0
  #open = 0
  #begun = 0
  #over = false

  constructor(wordsPerSecond: number) {
    this.#everyMs = 1_000 / wordsPerSecond
  }

  /** How many streams are read. */
  get open(): number {
    return this.#open
  }

  /** How many streams were begun. */
  get begun(): number {
    return this.#begun
  }

  /** All streams end after their next word. */
  end(): void {
    this.#over = true
  }

  /** The words of one stream. */
  async *words(count: number): AsyncGenerator<string, void> {
    this.#open += 1
    this.#begun += 1
    let due = performance.now()
    try {
      for (let said = 0; said < count && !this.#over; said++) {
        const now = performance.now()
        due = now - due > latestMs ? now : due + this.#everyMs
        if (due > now) await this.#until(due)
        yield `@${said}:${nowMicros()}@${filler}`
      }
    } finally {
      this.#open -= 1
    }
  }

  #until(due: number): Promise<void> {
    const slot = Math.ceil(due)
    if (this.#timer === undefined) {
      this.#told = slot - 1
      this.#timer = setInterval(() => this.#tell(), 1)
    }
    return new Promise((resolve) => {
      const waiting = this.#due.get(slot)
      if (waiting === undefined) this.#due.set(slot, [resolve])
      else waiting.push(resolve)
    })
  }

  #tell(): void {
    const now = Math.floor(performance.now())
    for (this.#told += 1; this.#told <= now; this.#told++) {
      const waiting = this.#due.get(this.#told)
      this.#due.delete(this.#told)
      for (const told of waiting ?? []) told()
    }
    this.#told = now
    if (this.#due.size > 0 || this.#open > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
