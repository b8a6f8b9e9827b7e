/**
 * The nodes of a server's cluster.
 *
 * Owns: the newest list, and the one request or pause of its subscribers. Calls the server's route of nodes.
 *
 * RNODES1. While there is a subscriber, the list is requested each second, one request at a time. Afterwards there is neither a
 *          request nor a timer.
 * RNODES2. A request without an answer ends after ten seconds, with an error. A permanent refusal ends the requests for good:
 *          without a cluster there is one.
 * RNODES3. The list is the same object until something changes. It stays when a request fails.
 *
 * Requests are used instead of a stream, because a browser opens only six connections to a server over HTTP/1.1.
 */
import { asError, ConnectionError, HttpError } from "../errors/index.ts"
import { Listeners, type NodeStatus, type Watched } from "../link/index.ts"
import { isFinal, pause } from "./reconnectingStream.ts"
import type { Remote } from "./remote.ts"

type Nodes = ReadonlyArray<NodeStatus>

const everyMs = 1_000
const longestMs = 10_000

export class RemoteNodes implements Watched<Nodes> {
  readonly #remote: Remote
  readonly #path: string
  readonly #listeners = new Listeners(() => {
    this.#left?.abort()
    this.#left = undefined
  })
  #left: AbortController | undefined
  #state: Nodes | undefined
  #text = ""
  #error: Error | undefined

  /** `query` names the chat whose home is marked. */
  constructor(remote: Remote, query: string) {
    this.#remote = remote
    this.#path = `/observer/nodes${query}`
  }

  readonly getState = (): Nodes | undefined => this.#state

  readonly getError = (): Error | undefined => this.#error

  readonly subscribe = (changed: () => void): (() => void) => {
    const forget = this.#listeners.add(changed)
    if (this.#left === undefined) {
      this.#left = new AbortController()
      void this.#run(this.#left.signal)
    }
    return forget
  }

  async #run(left: AbortSignal): Promise<void> {
    while (!left.aborted) {
      const error = await this.#request(left)
      if (left.aborted || (error !== undefined && isFinal(error))) return
      const leastMs = error instanceof HttpError ? (error.retryAfterMs ?? 0) : 0
      await pause(this.#remote.clock, Math.max(everyMs, leastMs), left)
    }
  }

  /** One request. Resolves with its error. */
  async #request(left: AbortSignal): Promise<Error | undefined> {
    const { clock, ask } = this.#remote
    const late = new AbortController()
    const timer = clock.setTimeout(
      () => late.abort(new ConnectionError("The server gave no list of its nodes")),
      longestMs
    )
    try {
      const answer = await ask("GET", this.#path, undefined, AbortSignal.any([left, late.signal]))
      if (!left.aborted) this.#take(answer as { readonly nodes: Nodes }, undefined)
      return undefined
    } catch (cause) {
      const error = asError(cause)
      if (!left.aborted) this.#take(undefined, error)
      return error
    } finally {
      clock.clearTimeout(timer)
    }
  }

  /** RNODES3 */
  #take(answer: { readonly nodes: Nodes } | undefined, error: Error | undefined): void {
    const text = answer === undefined ? this.#text : JSON.stringify(answer.nodes)
    const isSame = text === this.#text && error?.message === this.#error?.message
    if (answer !== undefined && text !== this.#text) this.#state = answer.nodes
    this.#text = text
    this.#error = error
    if (!isSame) this.#listeners.notify()
  }
}
