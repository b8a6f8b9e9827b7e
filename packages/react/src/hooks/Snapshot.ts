/**
 * The hook for a selected part of a snapshot.
 *
 * SNAP1. A component is rendered when its part changes, by `Object.is` or the given comparison, and only then.
 * SNAP2. Parts of chats and links are shown at most once a frame, parts of an actor at once.
 * SNAP3. A part is rendered on the server.
 *
 * @module
 */

import { useEffect, useMemo, useRef, useSyncExternalStore } from "react"
import { type Paced, pacedOf, type Source } from "./paced.ts"

/** A source of snapshots: the `LocalChatRef` of a chat, or an actor of XState. */
export interface HasSnapshot<S> {
  /** Returns the present snapshot. */
  readonly getSnapshot: () => S
  /** Calls `changed` with each new snapshot, until `unsubscribe` is called. */
  readonly subscribe: (changed: (snapshot: S) => void) => { readonly unsubscribe: () => void }
}

/** A source of states: a link to a chat, or a part of the observer. */
export interface HasState<S> {
  /** Returns the present state, the same object until it changes. */
  readonly getState: () => S
  /** Calls `changed` after each change; the returned function ends this. */
  readonly subscribe: (changed: () => void) => () => void
}

/**
 * Shows a selected part of a snapshot or state.
 *
 * **Details**: renders only when the selected part changes, by `Object.is` or by `isEqual`. Chats and links are shown at
 * most once a frame, an actor's snapshots at once. For a chat without a snapshot, the selector gets `undefined`.
 *
 * @example
 * ```ts
 * const phase = useSnapshot(chat, (snapshot) => snapshot?.context.phase)
 * const isOpen = useSnapshot(actor, (snapshot) => snapshot.matches("open"))
 * const title = useSnapshot(link.chat("c1"), ({ view }) => view.messages[0]?.content)
 * ```
 */
export const useSnapshot = <S, A>(
  from: HasSnapshot<S> | HasState<S>,
  selector: (snapshot: S) => A,
  isEqual: (left: A, right: A) => boolean = Object.is
): A => {
  const { subscribe, getSnapshot } = useMemo(() => storeOf(from), [from])
  const last = useRef<{ readonly selected: A } | undefined>(undefined)
  const select = useMemo(() => {
    let seen: { readonly snapshot: S; readonly selected: A } | undefined
    return (): A => {
      const snapshot = getSnapshot()
      if (seen !== undefined && Object.is(seen.snapshot, snapshot)) return seen.selected
      const before = seen ?? last.current
      const found = selector(snapshot)
      const selected = before !== undefined && isEqual(before.selected, found) ? before.selected : found
      seen = { snapshot, selected }
      return selected
    }
  }, [getSnapshot, selector, isEqual])
  const selected = useSyncExternalStore(subscribe, select, select)
  useEffect(() => {
    last.current = { selected }
  }, [selected])
  return selected
}

const storeOf = <S>(from: HasSnapshot<S> | HasState<S>): Paced<S> => {
  if ("getState" in from) return pacedOf(from)
  return isChat(from) ? pacedOf(sourceOf(from)) : immediate(from)
}

const isChat = (from: object): boolean => "attach" in from && "submitToolResults" in from

const sources = new WeakMap<object, Source<unknown>>()

const sourceOf = <S>(from: HasSnapshot<S>): Source<S> => {
  let source = sources.get(from) as Source<S> | undefined
  if (source === undefined) {
    source = { getState: () => from.getSnapshot(), subscribe: immediate(from).subscribe }
    sources.set(from, source)
  }
  return source
}

const immediate = <S>(from: HasSnapshot<S>): Paced<S> => ({
  getSnapshot: () => from.getSnapshot(),
  subscribe: (changed) => {
    const { unsubscribe } = from.subscribe(() => changed())
    return () => unsubscribe()
  }
})
