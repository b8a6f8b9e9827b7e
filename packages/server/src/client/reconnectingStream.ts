/**
 * Follows a stream of a server, and reconnects when it is cut.
 *
 * Owns: one connection at a time, and the timer between two. Does not own the use of the frames.
 *
 * FOLLOW1. A stream that is cut, temporarily refused or silent is opened again, with exponential backoff up to a bound. A
 *          stream that delivered a frame resets the backoff.
 * FOLLOW2. A permanent refusal, and the end of the stream's subject, close it for good.
 * FOLLOW4. When the last frame is `moved`, the stream is opened again like one that was cut: the status is `reconnecting`,
 *          and the last state stays.
 * FOLLOW3. After the follower leaves there is neither a connection nor a timer, and no callback is called.
 *
 * The follower leaves while a connection is made:
 *   1. the stream is requested.
 *   2. the follower leaves: the signal is aborted, which ends the request.
 *   3. whatever the request returns, the follower's end is checked before a callback is called.
 */
import type { Clock } from "@troupe/otp"
import { asError, ConnectionError, HttpError } from "../errors/index.ts"
import type { LinkStatus } from "../link/index.ts"
import { httpErrorOf, isRecord, type Remote } from "./remote.ts"
import { dataOf } from "./sseReader.ts"

/** The callbacks of a follower. */
export interface Follower {
  /**
   * Called with a frame. When it throws because the frame does not fit the previous ones, the whole state is requested
   * again. `first` marks the first frame of a connection.
   */
  readonly received: (frame: Readonly<Record<string, unknown>>, first: boolean) => void
  /** Called when the connection status changes. */
  readonly became: (status: LinkStatus, error: Error | undefined) => void
}

const shortestMs = 250
const longestMs = 10_000

/** A stream without data for this long counts as dead. A server sends something every fifteen seconds. */
const silenceMs = 45_000

/** Starts to follow, and returns the function that stops. */
export const follow = (remote: Remote, path: string, follower: Follower): (() => void) => {
  const life = new Life(remote, path, follower)
  void life.run()
  return () => life.leave()
}

/** The stream ended for good. */
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

  /** One connection. Resolves with the error that ended it. */
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
      case "moved":
        throw new ConnectionError("The chat goes on in another place; its stream is opened again")
      case "closing":
        throw new ConnectionError("The server closes; it is tried again")
      case "failed":
        throw (
          httpErrorOf(frame, frame["status"]) ??
          new ConnectionError("The stream of the server failed; it is opened again")
        )
      case "stopped":
        throw new Closed("stopped", {
          cause: new HttpError("chat_stopped", "The chat was stopped; say something to go on", { status: 410 })
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
    return pause(clock, Math.max(leastMs, bound / 2 + (random() * bound) / 2), this.#left.signal)
  }
}

/** Resolves after some time, or when the signal is aborted. */
export const pause = (clock: Clock.Clock, ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      clock.clearTimeout(timer)
      signal.removeEventListener("abort", done)
      resolve()
    }
    const timer = clock.setTimeout(done, ms)
    signal.addEventListener("abort", done, { once: true })
  })

/** A refusal of the request itself is final; a refusal of its time may not be. */
export const isFinal = (error: Error): boolean =>
  error instanceof Closed ||
  (error instanceof HttpError &&
    error.status !== undefined &&
    error.status < 500 &&
    error.status !== 429 &&
    error.status !== 408)
