/**
 * A source that changes often, throttled to one notification a frame.
 *
 * Owns: the shown value of a source, and the requested frame. Does not own the source. Subscribes to the source while it
 * has subscribers itself.
 *
 * PACED1. However often the source changes, its subscribers are notified at most once a frame, all in the same turn of the
 *         event loop.
 * PACED2. Between two frames all subscribers see the same value: the last one shown.
 * PACED3. Without subscribers there is neither a subscription to the source nor a frame.
 * PACED4. Where nothing is drawn, subscribers are notified of each change at once.
 * REACT2. In each frame all components show the same state of a chat.
 */
import { isDrawn, onFrame } from "./frame.ts"

/** A value that changes. The state is the same object until then. */
export interface Source<A> {
  readonly getState: () => A
  readonly subscribe: (changed: () => void) => () => void
}

/** The interface that `useSyncExternalStore` takes. */
export interface Paced<A> {
  readonly getSnapshot: () => A
  readonly subscribe: (changed: () => void) => () => void
}

/** One for each source, so that all its readers are notified together. */
const paces = new WeakMap<object, Paced<unknown>>()

export const pacedOf = <A>(source: Source<A>): Paced<A> => {
  let found = paces.get(source) as Paced<A> | undefined
  if (found === undefined) {
    found = paced(source)
    paces.set(source, found)
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
