/**
 * Polls observed objects at an interval.
 *
 * Owns: the subscriptions, and the one timer. Does not own the observed objects.
 *
 * WATCHING1. Without observers nothing is opened and no timer runs. The timer never keeps the program alive.
 * WATCHING2. An observed object is checked when the first observer subscribes, then once per interval. Observers are
 *            notified of changes only.
 * WATCHING3. The state is the same object until it changes.
 */
import type { Clock } from "@troupe/otp"
import { inBackground } from "../async/index.ts"

/** How an object is observed. */
export interface Sight<A> {
  /** Returns the present state: `before` if it is the same. */
  readonly look: (before: A | undefined) => A | undefined
  /** Called when the first observer subscribes; the returned function is called when the last one leaves. */
  readonly opened?: () => () => void
}

/** An observable state with its subscribers. */
export class Watching<A> {
  readonly #watchers = new Set<{ readonly changed: () => void }>()
  readonly #sight: Sight<A>
  readonly #pace: Pace
  #state: A | undefined
  #close: (() => void) | undefined

  constructor(sight: Sight<A>, pace: Pace) {
    this.#sight = sight
    this.#pace = pace
  }

  readonly getState = (): A | undefined => this.#state

  readonly subscribe = (changed: () => void): (() => void) => {
    const watcher = { changed }
    this.#watchers.add(watcher)
    if (this.#watchers.size === 1) {
      this.#close = this.#sight.opened?.()
      this.#state = this.#sight.look(this.#state)
      this.#pace.add(this)
    }
    return () => {
      if (!this.#watchers.delete(watcher) || this.#watchers.size > 0) return
      this.#pace.delete(this)
      this.#close?.()
      this.#close = undefined
    }
  }

  /** Checks the state, and notifies its subscribers if it changed. */
  readonly look = (): void => {
    const before = this.#state
    this.#state = this.#sight.look(before)
    if (this.#state === before) return
    for (const { changed } of Array.from(this.#watchers)) changed()
  }
}

/** Checks all observed objects, once every `everyMs` milliseconds. */
export class Pace {
  readonly #clock: Clock.Clock
  readonly #everyMs: number
  readonly #watched = new Set<{ readonly look: () => void }>()
  #timer: unknown

  constructor(clock: Clock.Clock, everyMs: number) {
    this.#clock = clock
    this.#everyMs = everyMs
  }

  add(watched: { readonly look: () => void }): void {
    this.#watched.add(watched)
    if (this.#watched.size === 1) this.#start()
  }

  delete(watched: { readonly look: () => void }): void {
    this.#watched.delete(watched)
    if (this.#watched.size > 0) return
    this.#clock.clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #start(): void {
    const look = (): void => {
      this.#start()
      for (const watched of Array.from(this.#watched)) if (this.#watched.has(watched)) watched.look()
    }
    this.#timer = inBackground(this.#clock, look, this.#everyMs)
  }
}
