/** Reads a watched value in React: no tearing, and no render while it is the same object. */
import type { Watched } from "@troupe/server/ChatLink"
import { useSyncExternalStore } from "react"

/** The current value; `undefined` until it is known. */
export const useWatched = <A>(watched: Watched<A>): A | undefined =>
  useSyncExternalStore(watched.subscribe, watched.getState, watched.getState)

/** The error that prevents watching, while there is one. */
export const useTrouble = <A>(watched: Watched<A>): Error | undefined => {
  const look = () => watched.getError?.()
  return useSyncExternalStore(watched.subscribe, look, look)
}
