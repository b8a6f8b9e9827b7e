/**
 * The observer of a server.
 *
 * Owns: a stream for each watched value, and its newest state. Calls the server's observer routes.
 *
 * ROBS1. There is a stream while there is a subscriber, and only then.
 * ROBS2. The state is the same object until something changes. It stays when the stream is cut.
 */
import type { Observation } from "@troupe/chat/observe"
import { WeakCache, Listeners, type ObserverLink, type Watched } from "../link/index.ts"
import { RemoteNodes } from "./remoteNodes.ts"
import { follow } from "./reconnectingStream.ts"
import type { Remote } from "./remote.ts"

/** The link to the observer of a server. */
export const remoteObserver = (remote: Remote): ObserverLink => {
  const nodes = new WeakCache<Observation.Observation>()
  const lists = new WeakCache<RemoteNodes>()
  return {
    ...observationAt(remote, ""),
    nodes: (chat) => {
      const query = chat === undefined ? "" : `?chat=${encodeURIComponent(chat)}`
      return lists.get(query, () => new RemoteNodes(remote, query))
    },
    node: (address) => nodes.get(address, () => observationAt(remote, `?node=${encodeURIComponent(address)}`))
  }
}

/** The observation of the node that the query names, or of the node that the client has reached. */
const observationAt = (remote: Remote, query: string): Observation.Observation => {
  const processes = new WeakCache<Watched<Observation.ProcessDetail>>()
  const timelines = new WeakCache<Watched<Observation.Timeline>>()
  return {
    tree: new RemoteWatched(remote, `/observer/tree${query}`),
    process: (id) =>
      processes.get(id, () => new RemoteWatched(remote, `/observer/processes/${encodeURIComponent(id)}${query}`)),
    timeline: (chat) =>
      timelines.get(chat, () => new RemoteWatched(remote, `/observer/timeline/${encodeURIComponent(chat)}${query}`)),
    kill: async (id) =>
      void (await remote.ask("POST", `/observer/processes/${encodeURIComponent(id)}/kill${query}`, {}))
  }
}

/** Each frame is a whole state. */
class RemoteWatched<A> implements Watched<A> {
  readonly #remote: Remote
  readonly #path: string
  readonly #listeners = new Listeners(() => {
    this.#leave?.()
    this.#leave = undefined
  })
  #leave: (() => void) | undefined
  #state: A | undefined
  #error: Error | undefined

  constructor(remote: Remote, path: string) {
    this.#remote = remote
    this.#path = path
  }

  readonly getState = (): A | undefined => this.#state

  readonly getError = (): Error | undefined => this.#error

  readonly subscribe = (changed: () => void): (() => void) => {
    const forget = this.#listeners.add(changed)
    this.#leave ??= follow(this.#remote, this.#path, {
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
