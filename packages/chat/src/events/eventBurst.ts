/**
 * Decides when an outlet yields to the event loop.
 *
 * Owns: the count of events, and the time since the last yield. Does not own the events.
 *
 * OUT6. Events that are always ready do not block the event loop, whether the reader gets them or not.
 */

/** The time is read after `checkEvery` events, and the outlet yields to the event loop after `holdMs` milliseconds. */
const checkEvery = 128
const holdMs = 8

/** Events that follow one another without a yield to the event loop. */
export class EventBurst {
  readonly #holdMs: number
  #count = 0
  #start = 0

  /** With `holdMsAtMost` 0 the outlet yields to the event loop by the count of events alone. */
  constructor(holdMsAtMost = holdMs) {
    this.#holdMs = holdMsAtMost
  }

  /** Counts an event. Returns whether events have run for so long that the outlet should yield to the event loop. */
  hasHeldThread(): boolean {
    if (++this.#count < checkEvery) return false
    this.#count = 0
    const now = performance.now()
    const held = now - this.#start >= this.#holdMs
    if (held) this.#start = now
    return held
  }
}
