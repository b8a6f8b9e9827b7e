/**
 * Has the text of a reply kept while it streams, so that little is lost with the program.
 *
 * Owns: when the text is to be kept. Does not own the text, which the step's collector has, nor the store.
 *
 * DRAFT1. The text is kept at most once in an interval, and only if it is another than before. There is a timer while a reply
 *         streams, and no other.
 * DRAFT2. Nobody waits for a draft: one that the store is slow to take, or fails with, changes nothing but what is known of a
 *         reply that is cut short. Of one chat one is under way at a time, and the newest that waits behind it.
 * DRAFT3. A draft is kept behind what was saved before it, and is never part of a later entry (`chatHeads.ts`).
 */
import type { Clock } from "@troupe/otp"
import type { StreamCollector } from "../events/index.ts"
import { inBackground } from "../async/index.ts"

/** The drafts of one chat. */
export class Drafts {
  readonly #clock: Clock.Clock
  readonly #everyMs: number
  readonly #keep: (text: string) => void
  #collector: StreamCollector | undefined
  #timer: unknown
  #kept = ""

  constructor(clock: Clock.Clock, everyMs: number, keep: (text: string) => void) {
    this.#clock = clock
    this.#everyMs = everyMs
    this.#keep = keep
  }

  /** A reply begins to stream. */
  begin(collector: StreamCollector): void {
    this.end()
    this.#collector = collector
    this.#kept = ""
    this.#arm()
  }

  /** It streams no more; what it said is kept otherwise, or not at all. */
  end(): void {
    if (this.#collector === undefined) return
    this.#collector = undefined
    this.#clock.clearTimeout(this.#timer)
  }

  /** Has the text kept now, if it is another than before. */
  flush(): void {
    const text = this.#collector?.text ?? ""
    if (text === "" || text === this.#kept) return
    this.#kept = text
    this.#keep(text)
  }

  readonly #due = (): void => {
    this.flush()
    if (this.#collector?.completed === false) this.#arm()
  }

  #arm(): void {
    this.#timer = inBackground(this.#clock, this.#due, this.#everyMs)
  }
}
