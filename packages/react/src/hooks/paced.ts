/**
 * What changes often, told once in a frame.
 *
 * Owns: what of a source is shown, and the frame that is asked for. Does not own the source. Talks to the source while
 * somebody is subscribed.
 *
 * PACED1. However often the source changes, its subscribers are told at most once in a frame, all in the same turn.
 * PACED2. Between two frames everybody sees the same value: what was shown last.
 * PACED3. Without subscribers there is neither a subscription to the source nor a frame.
 * PACED4. Where nothing is drawn, each change is told at once.
 */
import { isDrawn, onFrame } from "./frame.ts"

/** Something whose state changes. The state is the same value until it did. */
export interface Source<A> {
  readonly getState: () => A
  readonly subscribe: (changed: () => void) => () => void
}

/** As `useSyncExternalStore` takes it. */
export interface Paced<A> {
  readonly getSnapshot: () => A
  readonly subscribe: (changed: () => void) => () => void
}

/** One for each source, so that all its readers are told together. */
const known = new WeakMap<object, Paced<unknown>>()

export const pacedOf = <A>(source: Source<A>): Paced<A> => {
  let found = known.get(source) as Paced<A> | undefined
  if (found === undefined) {
    found = paced(source)
    known.set(source, found)
  }
  return found
}

const paced = <A>(source: Source<A>): Paced<A> => {
  const listeners = new Set<{ readonly changed: () => void }>()
  let shown: { readonly state: A } | undefined
  let leave: (() => void) | undefined
  let forgetFrame: (() => void) | undefined

  const show = (): void => {
    forgetFrame = undefined
    const state = source.getState()
    if (shown !== undefined && Object.is(shown.state, state)) return
    shown = { state }
    for (const listener of Array.from(listeners)) listener.changed()
  }

  const changed = (): void => {
    if (isDrawn()) {
      forgetFrame ??= onFrame(show)
      return
    }
    forgetFrame?.()
    show()
  }

  const begin = (): void => {
    leave = source.subscribe(changed)
    shown = { state: source.getState() }
  }

  const end = (): void => {
    leave?.()
    forgetFrame?.()
    leave = undefined
    forgetFrame = undefined
    shown = undefined
  }

  return {
    getSnapshot: () => (shown === undefined ? source.getState() : shown.state),
    subscribe: (listener) => {
      const one = { changed: listener }
      listeners.add(one)
      if (listeners.size === 1) begin()
      return () => {
        if (listeners.delete(one) && listeners.size === 0) end()
      }
    }
  }
}
