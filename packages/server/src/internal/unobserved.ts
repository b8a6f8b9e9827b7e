/** An observer of a system that cannot be observed. */
import type { ObserverLink, Watched } from "../ChatLink.ts"

const nothing: Watched<never> = { getState: () => undefined, subscribe: () => () => {} }

export const unobserved: ObserverLink = {
  tree: nothing,
  process: () => nothing,
  timeline: () => nothing,
  kill: () => Promise.reject(new Error("This system cannot be observed"))
}
