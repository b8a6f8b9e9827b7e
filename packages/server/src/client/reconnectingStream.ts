/**
 * Follows a stream of a server, and begins again when it is cut.
 *
 * Owns: one connection at a time, and the timer between two. Does not own what is made of the frames.
 *
 * FOLLOW1. A stream that is cut, refused for a while or silent is opened again, each time after a longer while, up to a bound;
 *          one that gave something begins with the shortest again.
 * FOLLOW2. A refusal that will not change, and the end of what is followed, close it for good.
 * FOLLOW3. Left, it has neither a connection nor a timer, and tells nothing any more.
 *
 * Somebody leaves while a connection is made:
 *   1. the stream is asked for.
 *   2. it is left: its signal is aborted, which ends the request.
 *   3. whatever the request comes to, the life is over: it is looked at before anything is told.
 */
import { asError, ConnectionError, HttpError } from "../errors/index.ts"
import type { LinkStatus } from "../link/index.ts"
import { httpErrorOf, isRecord, type Remote } from "./remote.ts"
import { dataOf } from "./sseReader.ts"

/** Who follows. */
export interface Follower {
  /** A frame came; throws where it does not fit what came before, and then all is asked for again. `first` of a connection. */
  readonly received: (frame: Readonly<Record<string, unknown>>, first: boolean) => void
  /** The way is open, or is not. */
  readonly became: (status: LinkStatus, error: Error | undefined) => void
}

const shortestMs = 250
const longestMs = 10_000

/** A server says something every fifteen seconds. */
const silenceMs = 45_000

/** Begins to follow; gives what leaves. */
export const follow = (remote: Remote, path: string, follower: Follower): (() => void) => {
  const life = new Life(remote, path, follower)
  void life.run()
  return () => life.leave()
}

/** What ends for good. */
class Closed extends Error {}

class Life {
  readonly #remote: Remote
  readonly #path: string
  readonly #follower: Follower
  readonly #left = new AbortController()
  #tries = 0

  constructor(remote: Remote, path: string, follower: Follower) {
    this.#remote = remote
    this.#path = path
    this.#follower = follower
  }

  leave(): void {
    this.#left.abort()
  }

  async run(): Promise<void> {
    const { signal } = this.#left
    while (!signal.aborted) {
      const error = await this.#connection()
      if (signal.aborted) return
      if (isFinal(error)) {
        this.#follower.became("closed", error instanceof Closed ? asError(error.cause) : error)
        return
      }
      this.#follower.became("reconnecting", error)
      await this.#pause(error instanceof HttpError ? (error.retryAfterMs ?? 0) : 0)
    }
  }

  /** One connection, and what it ended with. */
  async #connection(): Promise<Error> {
    const { clock } = this.#remote
    const connection = new AbortController()
    const end = (): void => connection.abort()
    this.#left.signal.addEventListener("abort", end, { once: true })
    let timer = clock.setTimeout(end, silenceMs)
    const received = (): void => {
      clock.clearTimeout(timer)
      timer = clock.setTimeout(end, silenceMs)
    }
    try {
      const body = await this.#remote.open(this.#path, connection.signal)
      let first = true
      for await (const data of dataOf(body, received)) {
        if (this.#left.signal.aborted) break
        this.#take(data, first)
        first = false
      }
      return new ConnectionError("The stream of the server ended; it is opened again")
    } catch (error) {
      return asError(error)
    } finally {
      clock.clearTimeout(timer)
      this.#left.signal.removeEventListener("abort", end)
      connection.abort()
    }
  }

  #take(data: string, first: boolean): void {
    const frame: unknown = JSON.parse(data)
    if (!isRecord(frame)) throw new TypeError("A frame is no object")
    switch (frame["type"]) {
      case "closing":
        throw new ConnectionError("The server closes; it is tried again")
      case "failed":
        throw httpErrorOf(frame) ?? new ConnectionError("The stream of the server failed; it is opened again")
      case "stopped":
        throw new Closed("stopped", {
          cause: new HttpError("chat_stopped", "The chat was stopped; say something to go on")
        })
      default:
        this.#follower.received(frame, first)
        this.#tries = 0
        if (first) this.#follower.became("open", undefined)
    }
  }

  /** FOLLOW1. */
  #pause(leastMs: number): Promise<void> {
    const { clock, random } = this.#remote
    const bound = Math.min(longestMs, shortestMs * 2 ** this.#tries)
    this.#tries += 1
    const { signal } = this.#left
    return new Promise((resolve) => {
      const done = (): void => {
        clock.clearTimeout(timer)
        signal.removeEventListener("abort", done)
        resolve()
      }
      const timer = clock.setTimeout(done, Math.max(leastMs, bound / 2 + (random() * bound) / 2))
      signal.addEventListener("abort", done, { once: true })
    })
  }
}

/** A refusal of what is asked stays one; of when it is asked, it may not. */
const isFinal = (error: Error): boolean =>
  error instanceof Closed ||
  (error instanceof HttpError && error.status < 500 && error.status !== 429 && error.status !== 408)
