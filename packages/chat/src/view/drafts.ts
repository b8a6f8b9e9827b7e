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
import type { Draft } from "../store/index.ts"

/** How often the drafts of all chats are stored, and how. */
export interface DraftKeeping {
  readonly clock: Clock.Clock
  readonly everyMs: number
  readonly keep: (draft: Draft) => void
}

/** The drafts of one reply. */
export class Drafts {
  readonly #id: string
  readonly #keeping: DraftKeeping
  #collector: StreamCollector | undefined
  #timer: unknown
  #kept = ""

  /** Starts the timer, because a reply of the chat begins to stream. */
  constructor(id: string, keeping: DraftKeeping, collector: StreamCollector) {
    this.#id = id
    this.#keeping = keeping
    this.#collector = collector
    this.#arm()
  }

  /** Stops the timer when the reply has ended; its text is stored otherwise, or not at all. */
  end(): void {
    if (this.#collector === undefined) return
    this.#collector = undefined
    if (this.#timer !== undefined) this.#keeping.clock.clearTimeout(this.#timer)
    this.#timer = undefined
  }

  /** Stores the text now, if it has changed. */
  flush(): void {
    const text = this.#collector?.text ?? ""
    if (text === "" || text === this.#kept) return
    this.#kept = text
    this.#keeping.keep({ id: this.#id, text })
  }

  readonly #due = (): void => {
    this.flush()
    if (this.#collector?.completed === false) this.#arm()
  }

  #arm(): void {
    const { clock, everyMs } = this.#keeping
    if (everyMs < Infinity) this.#timer = inBackground(clock, this.#due, everyMs)
  }
}
