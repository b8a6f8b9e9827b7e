/**
 * Words at a fixed pace, for any number of streams. Both servers use it, so the source of the words makes no difference.
 *
 * Each word has its index and its time, on a clock that all processes of the computer share: `@3:1234567@`.
 */

/** Now, in microseconds, on a clock that all processes of the computer share. */
export const nowMicros = (): number => Number(process.hrtime.bigint() / 1_000n)

const filler = " the quick brown fox jumps over it"

/** When a stream is later than this, its next words keep their distance from then on instead of coming all at once. */
const latestMs = 1_000

/** Feeds streams, each with so many words a second from its start. */
export class Pace {
  readonly #everyMs: number
  /** The waiting streams, by the millisecond in which their word is due. */
  readonly #due = new Map<number, Array<() => void>>()
  #timer: NodeJS.Timeout | undefined
  #reported = 0
  #open = 0
  #begun = 0
  #over = false

  constructor(wordsPerSecond: number) {
    this.#everyMs = 1_000 / wordsPerSecond
  }

  /** The number of streams that are being read. */
  get open(): number {
    return this.#open
  }

  /** The number of streams that were started. */
  get begun(): number {
    return this.#begun
  }

  /** Ends all streams after their next word. */
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
      this.#reported = slot - 1
      this.#timer = setInterval(() => this.#report(), 1)
    }
    return new Promise((resolve) => {
      const waiting = this.#due.get(slot)
      if (waiting === undefined) this.#due.set(slot, [resolve])
      else waiting.push(resolve)
    })
  }

  #report(): void {
    const now = Math.floor(performance.now())
    for (this.#reported += 1; this.#reported <= now; this.#reported++) {
      const waiting = this.#due.get(this.#reported)
      this.#due.delete(this.#reported)
      for (const reported of waiting ?? []) reported()
    }
    this.#reported = now
    if (this.#due.size > 0 || this.#open > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
