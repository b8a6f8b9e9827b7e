/**
 * The observer, as a component shows it.
 *
 * @module
 */
import type { Observation } from "@troupe/chat/observe"
import type { ChatLink } from "@troupe/server"
import { useMemo } from "react"
import { useTroupe } from "./Provider.ts"
import { useSnapshot } from "./Snapshot.ts"

/**
 * What is observed of the system.
 *
 * - `tree`: the living processes; `undefined` until they are known
 * - `kill`: kills a process; its supervisor does what it does
 * - `observer`: the rest of it: `useProcess` and `useTimeline` show one process, and one chat's turns
 */
export interface Observed {
  readonly tree: Observation.Observed | undefined
  readonly kill: (id: string) => Promise<void>
  readonly observer: ChatLink.ObserverLink
}

/** Shows the living supervision tree, for as long as the component is there. */
export const useObserver = (link?: ChatLink.TroupeLink): Observed => {
  const { observer } = useTroupe(link)
  const tree = useWatched(observer.tree)
  return useMemo(() => ({ tree, kill: observer.kill, observer }), [tree, observer])
}

/** Shows one process; `undefined` until it is known, and without an id. */
export const useProcess = (
  id: string | undefined,
  link?: ChatLink.TroupeLink
): Observation.ProcessDetail | undefined => {
  const { observer } = useTroupe(link)
  return useWatched(useMemo(() => (id === undefined ? nothing : observer.process(id)), [observer, id]))
}

/** Shows what the newest turns of a chat spent their time on; `undefined` until that is known, and without an id. */
export const useTimeline = (chat: string | undefined, link?: ChatLink.TroupeLink): Observation.Timeline | undefined => {
  const { observer } = useTroupe(link)
  return useWatched(useMemo(() => (chat === undefined ? nothing : observer.timeline(chat)), [observer, chat]))
}

const nothing: ChatLink.Watched<never> = { getState: () => undefined, subscribe: () => () => {} }

const useWatched = <A>(watched: ChatLink.Watched<A>): A | undefined => useSnapshot(watched, same<A | undefined>)

const same = <A>(value: A): A => value
