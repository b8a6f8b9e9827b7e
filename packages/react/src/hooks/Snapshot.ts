/**
 * A part of what changes, as a component shows it.
 *
 * SNAP1. A component is rendered when its part is another, by `Object.is` or the comparison that is given, and only then.
 * SNAP2. Parts of chats and links are shown at most once in a frame, parts of an actor at once.
 * SNAP3. A part is rendered on the server.
 *
 * @module
 */

import { useEffect, useMemo, useRef, useSyncExternalStore } from "react"
import { type Paced, pacedOf, type Source } from "./paced.ts"

/** What has snapshots: the ref of a chat, an actor of XState. */
export interface HasSnapshot<S> {
  readonly getSnapshot: () => S
  readonly subscribe: (changed: (snapshot: S) => void) => { readonly unsubscribe: () => void }
}

/** What has a state: a link to a chat, a part of the observer. */
export interface HasState<S> {
  readonly getState: () => S
  readonly subscribe: (changed: () => void) => () => void
}

/**
 * Shows a part of what changes.
 *
 * **Details**: renders only when the selected part is another: by `Object.is`, or as `isEqual` says. Chats and links are shown
 * at most once in a frame, an actor's snapshots at once. A chat that has no snapshot yet is selected from as `undefined`.
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
