/**
 * One attempt of a model request, from its opening to its release.
 *
 * Owns: the abort signal, the opening under way, the open stream. Does not own the phases, nor whether a refused request is
 * sent again (`AdapterStreamMachine`).
 *
 * REQ1. For each `open` exactly one of `refused` and `opened` is called; after `opened` one of `exhausted` and `refused`,
 *       the latter in place of a first event; none after `release`.
 * REQ2. `release` aborts the signal and releases the stream, once. A stream that opens later is released at once.
 * REQ3. The outlet holds a reference until the stream is released, so that a reader who leaves can wait for that.
 * STREAM1. An opened request is released exactly once, however it ends.
 */
import type { Adapter, AdapterStream, Answerer } from "../adapter/index.ts"
import { AdapterError, boundEnvironment } from "../errors/index.ts"
import { adapterOptions, AdapterSource } from "./adapterSource.ts"
import { answeredBy, type Attempt, attemptOf, refused } from "./retryAttempts.ts"
import { isPromiseLike, LazyAbortController, IdleTimeout } from "../async/index.ts"
import type { TracedRequest } from "../options/index.ts"
import { describe, held } from "../values/index.ts"
import type { Request } from "../model/index.ts"
import { RequestCost } from "./requestCost.ts"
import type { RunnableRequest, RequestEnv } from "./requestEnv.ts"
import { StateMachine } from "@troupe/otp"
import type { EventObject } from "xstate"
import type { AdapterStreamEvent, AttemptPlace, RequestExhausted } from "./streamContext.ts"

/** The callbacks for a request's phases (REQ1). */
export interface RequestListener {
  readonly opened: () => void
  readonly refused: (error: unknown) => void
  readonly exhausted: () => void
}

/** A model request. */
export class AdapterRequest {
  readonly #parts: RunnableRequest
  readonly #listener: RequestListener
  #abort = new LazyAbortController(undefined)
  #source: AdapterSource | undefined
  #released = false
  #opening: IdleTimeout | undefined
  #releaseHold: (() => void) | undefined
  #traced: TracedRequest | undefined
  #cost: RequestCost | undefined

  constructor(parts: RunnableRequest, listener: RequestListener) {
    this.#parts = parts
    this.#listener = listener
  }

  /** Sends the request; after a refusal, again. */
  open({ adapter, request, answerer }: Attempt): void {
    if (this.#released) return
    const { engine, system, blobs } = this.#parts.options
    const abort = new LazyAbortController(system)
    this.#cost = engine.prices === undefined ? undefined : new RequestCost(engine.prices, adapter, request, system)
    this.#abort = abort
    this.#traced = this.#parts.options.trace?.request(request, adapter)
    let opening: AdapterStream | Promise<AdapterStream>
    let isPromised: boolean
    try {
      opening =
        blobs?.areUsed === true
          ? this.#streamed(blobs.brought(request), adapter, abort)
          : adapter.stream(request, adapterOptions(this.#parts.options, abort))
      isPromised = isPromiseLike(opening)
    } catch (error) {
      return this.#refused(error)
    }
    if (!isPromised) return this.#opened(opening as AdapterStream, answerer)
    this.#releaseHold ??= this.#parts.outlet.hold()
    this.#await(Promise.resolve(opening), answerer)
  }

  /** Sends the request once it has the bytes of its blobs, unless it was given up meanwhile (CHATBLOB2). */
  async #streamed(brought: Promise<Request>, adapter: Adapter, abort: LazyAbortController): Promise<AdapterStream> {
    const request = await brought.catch((cause: unknown) => {
      throw new AdapterError("unknown", {
        cause,
        message: `The store did not give the files of the request: ${describe(cause)}`
      })
    })
    if (abort.signal.aborted)
      throw new AdapterError("unknown", { message: "The request was given up before it was sent" })
    return adapter.stream(request, adapterOptions(this.#parts.options, abort))
  }

  /** Waits for the stream; a stream that opens after the request was given up is released at once (REQ2). */
  #await(opening: Promise<AdapterStream>, answerer: Answerer | undefined): void {
    const { system, streamIdleTimeoutMs } = this.#parts.options
    const abort = this.#abort
    let givenUp = false
    const silence = new IdleTimeout(system.clock, streamIdleTimeoutMs, (error) => {
      givenUp = true
      abort.abort()
      this.#free()
      this.#refused(error)
    })
    this.#opening = silence
    silence.asked()
    opening.then(
      (stream) => {
        silence.end()
        return givenUp ? discard(stream) : this.#opened(stream, answerer)
      },
      (error: unknown) => {
        silence.end()
        if (givenUp) return
        this.#free()
        this.#refused(error)
      }
    )
  }

  release(): void {
    if (this.#released) return
    this.#released = true
    this.#opening?.end()
    this.#abort.abort()
    this.#traced?.abandoned()
    void this.#source?.release().then(() => this.#free())
  }

  #opened(opened: AdapterStream, answerer: Answerer | undefined): void {
    const { collector, options, outlet } = this.#parts
    let source: AdapterSource
    try {
      const stream = answerer === undefined ? opened : answeredBy(opened, answerer)
      const traced = this.#traced
      const listener = {
        begun: () => traced?.begun(),
        done: () => {
          this.#free()
          this.#traced?.exhausted(collector.toResponse())
          this.#listener.exhausted()
        },
        refused: (error: unknown) => {
          this.#free()
          this.#refused(error)
        }
      }
      source = new AdapterSource(stream, collector, options, this.#abort, listener, this.#cost)
    } catch (error) {
      this.#free()
      this.#refused(error)
      return
    }
    this.#releaseHold ??= outlet.hold()
    this.#source = source
    if (this.#released) return void source.release().then(() => this.#free())
    this.#listener.opened()
    outlet.attach(source)
  }

  #refused(error: unknown): void {
    this.#traced?.refused(error)
    if (!this.#released) this.#listener.refused(error)
  }

  #free(): void {
    this.#releaseHold?.()
    this.#releaseHold = undefined
  }
}

const discard = (stream: AdapterStream): void => {
  try {
    const returned = stream[Symbol.asyncIterator]().return?.()
    Promise.resolve(returned).catch(() => undefined)
  } catch {
    // The value is no stream, or breaks its contract, and no caller is left to notify.
  }
}

/** The end of a request, with what its owner reads then. */
export const exhausted = ({ read }: RunnableRequest): RequestExhausted =>
  read === undefined ? { type: "request.exhausted" } : { type: "request.exhausted", read: read() }

/**
 * Opens the request of the environment for the attempt at a place, and attaches its stream to the outlet. A stop of the
 * actor releases the request (STREAM1). A restored actor makes its attempt again.
 */
export const request = StateMachine.fromCallback<
  AttemptPlace,
  RequestEnv,
  EventObject,
  Extract<AdapterStreamEvent, { readonly type: "request.opened" | "request.refused" | "request.exhausted" }>
>(({ input: place, env, send }) => {
  const refusal = boundEnvironment(env).compactions?.refusal
  if (refusal !== undefined) {
    send({ type: "request.refused", error: held(refusal), delayMs: undefined, movesAlong: false })
    return undefined
  }
  const sent = env.request()
  const running = new AdapterRequest(sent, {
    opened: () => send({ type: "request.opened" }),
    refused: (error) => send(refused(sent, place, error)),
    exhausted: () => send(exhausted(sent))
  })
  running.open(attemptOf(sent, place))
  return { close: () => running.release() }
})
