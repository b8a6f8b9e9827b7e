/**
 * Stores the text of a reply while it streams, so that little is lost when the program ends.
 *
 * Owns: when the text is stored. Does not own the text, which the step's collector has, nor the store.
 *
 * DRAFT1. The text is stored at most once per interval, and only if it has changed. There is a timer only while a reply
 *         streams; with an infinite interval there is none, and the text is stored when the chat ends.
 * DRAFT2. Nothing waits for a draft: a slow or failing save only affects the text of an interrupted reply. For each chat
 *         one save is under way at a time, and only the newest waiting draft is kept.
 * DRAFT3. A draft follows the entry that was saved before it, and is never part of a later entry (`chatHeads.ts`).
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

  /** Starts the timer when a reply begins to stream. */
  begin(collector: StreamCollector): void {
    this.end()
    this.#collector = collector
    this.#kept = ""
    this.#arm()
  }

  /** Stops the timer when the reply has ended; its text is stored otherwise, or not at all. */
  end(): void {
    if (this.#collector === undefined) return
    this.#collector = undefined
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer)
    this.#timer = undefined
  }

  /** Stores the text now, if it has changed. */
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
    if (this.#everyMs === Infinity) return
    this.#timer = inBackground(this.#clock, this.#due, this.#everyMs)
  }
}
