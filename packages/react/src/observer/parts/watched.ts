/** What is watched, read by React: no tearing, and no render while it stays the same object. */
import type { Watched } from "@troupe/server/ChatLink"
import { useSyncExternalStore } from "react"

/** What is watched, as it is now; `undefined` until something is known. */
export const useWatched = <A>(watched: Watched<A>): A | undefined =>
  useSyncExternalStore(watched.subscribe, watched.getState, watched.getState)

/** What keeps it from being watched, while something does. */
export const useTrouble = <A>(watched: Watched<A>): Error | undefined => {
  const look = () => watched.getError?.()
  return useSyncExternalStore(watched.subscribe, look, look)
}
