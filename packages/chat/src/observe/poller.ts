/**
 * Things that are looked at again and again while somebody watches them.
 *
 * Owns: who watches what, and the one timer. Does not own what is seen.
 *
 * WATCHING1. Nothing is opened and no timer runs while nobody watches; the one there is keeps no program alive.
 * WATCHING2. What is watched is looked at when the first comes, then once in an interval; who watches is told of what changed,
 *            and of nothing else.
 * WATCHING3. The state is the same object until something changed.
 */
import type { Clock } from "@troupe/otp"
import { inBackground } from "../async/index.ts"

/** How something is looked at. */
export interface Sight<A> {
  /** What is to be seen now: `before` if that is the same. */
  readonly look: (before: A | undefined) => A | undefined
  /** The first one came; what is given back is run when the last has left. */
  readonly opened?: () => () => void
}

/** Something one can watch. */
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

  /** Looks again. */
  readonly look = (): void => {
    const before = this.#state
    this.#state = this.#sight.look(before)
    if (this.#state === before) return
    for (const { changed } of Array.from(this.#watchers)) changed()
  }
}

/** Has all that are watched looked at, once in so many milliseconds. */
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
