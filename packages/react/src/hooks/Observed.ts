/**
 * The observer's hooks.
 *
 * @module
 */
import type { Observation } from "@troupe/chat/observe"
import type { ChatLink } from "@troupe/server"
import { useMemo } from "react"
import { useTroupe } from "./Provider.ts"
import { useSnapshot } from "./Snapshot.ts"

/** The observer's data. */
export interface Observed {
  /** The live processes; `undefined` until they are known. */
  readonly tree: Observation.Observed | undefined
  /** Kills a process; its supervisor then acts on the exit. */
  readonly kill: (id: string) => Promise<void>
  /** The whole observer: `useProcess` and `useTimeline` show one process, and one chat's turns. */
  readonly observer: ChatLink.ObserverLink
}

/** Shows the live supervision tree while the component is mounted. */
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

/** Shows the time spent in the newest turns of a chat; `undefined` until it is known, and without an id. */
export const useTimeline = (chat: string | undefined, link?: ChatLink.TroupeLink): Observation.Timeline | undefined => {
  const { observer } = useTroupe(link)
  return useWatched(useMemo(() => (chat === undefined ? nothing : observer.timeline(chat)), [observer, chat]))
}

const nothing: ChatLink.Watched<never> = { getState: () => undefined, subscribe: () => () => {} }

const useWatched = <A>(watched: ChatLink.Watched<A>): A | undefined => useSnapshot(watched, same<A | undefined>)

const same = <A>(value: A): A => value
