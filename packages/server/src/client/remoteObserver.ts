/**
 * The observer of a server.
 *
 * Owns: a stream for each watched value, and its newest state. Calls the server's observer routes.
 *
 * ROBS1. There is a stream while there is a subscriber, and only then.
 * ROBS2. The state is the same object until something changes. It stays when the stream is cut.
 */
import type { Observation } from "@troupe/chat/observe"
import { WeakCache, Listeners, type NodeStatus, type ObserverLink, type Watched } from "../link/index.ts"
import { followNodes } from "./remoteNodes.ts"
import { follow, type Follower } from "./reconnectingStream.ts"
import type { Remote } from "./remote.ts"

/** The link to the observer of a server. */
export const remoteObserver = (remote: Remote): ObserverLink => {
  const nodes = new WeakCache<Observation.Observation>()
  const lists = new WeakCache<Watched<ReadonlyArray<NodeStatus>>>()
  return {
    ...observationAt(remote, ""),
    nodes: (chat) => {
      const query = chat === undefined ? "" : `?chat=${encodeURIComponent(chat)}`
      return lists.get(
        query,
        () => new RemoteWatched((follower) => followNodes(remote, `/observer/nodes${query}`, follower))
      )
    },
    node: (address) => nodes.get(address, () => observationAt(remote, `?node=${encodeURIComponent(address)}`))
  }
}

/** The observation of the node that the query names, or of the node that the client has reached. */
const observationAt = (remote: Remote, query: string): Observation.Observation => {
  const processes = new WeakCache<Watched<Observation.ProcessDetail>>()
  const timelines = new WeakCache<Watched<Observation.Timeline>>()
  const stream = <A>(path: string): Watched<A> =>
    new RemoteWatched((follower) => follow(remote, `/observer/${path}${query}`, follower))
  return {
    tree: stream("tree"),
    process: (id) => processes.get(id, () => stream(`processes/${encodeURIComponent(id)}`)),
    timeline: (chat) => timelines.get(chat, () => stream(`timeline/${encodeURIComponent(chat)}`)),
    kill: async (id) =>
      void (await remote.ask("POST", `/observer/processes/${encodeURIComponent(id)}/kill${query}`, {}))
  }
}

/** Starts to follow a value, and returns the function that stops. */
type Start = (follower: Follower) => () => void

/** Each frame is a whole state. */
class RemoteWatched<A> implements Watched<A> {
  readonly #start: Start
  readonly #listeners = new Listeners(() => {
    this.#leave?.()
    this.#leave = undefined
  })
  #leave: (() => void) | undefined
  #state: A | undefined
  #error: Error | undefined

  constructor(start: Start) {
    this.#start = start
  }

  readonly getState = (): A | undefined => this.#state

  readonly getError = (): Error | undefined => this.#error

  readonly subscribe = (changed: () => void): (() => void) => {
    const forget = this.#listeners.add(changed)
    this.#leave ??= this.#start({
      received: (frame) => {
        this.#state = frame as A
        this.#error = undefined
        this.#listeners.notify()
      },
      became: (_status, error) => {
        if (error === this.#error) return
        this.#error = error
        this.#listeners.notify()
      }
    })
    return forget
  }
}
