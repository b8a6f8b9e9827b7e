/**
 * One attempt of a model request, from its opening to its release; the attempts of a request: their adapter, their delays and their notices.
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
import { AdapterError, boundEnvironment, isObject, isPreflightError, type PreflightError } from "../errors/index.ts"
import { adapterOptions, AdapterSource } from "./adapterSource.ts"
import { isPromiseLike, LazyAbortController, IdleTimeout } from "../async/index.ts"
import type { TracedRequest } from "../options/index.ts"
import { describe, held, original } from "../values/index.ts"
import { RequestCost } from "./requestCost.ts"
import type { RunnableRequest, RequestEnv } from "./requestEnv.ts"
import { StateMachine, System } from "@troupe/otp"
import type { EventObject } from "xstate"
import type { AdapterStreamEvent, AttemptPlace, RequestExhausted, RequestRefused } from "./streamContext.ts"
import { type Adapter, type AdapterStream, type Answerer, isSeveral, type Yielded } from "../adapter/index.ts"
import { type AdapterEvent, emit } from "../events/index.ts"
import type { Request } from "../model/index.ts"
import * as Fallback from "../adapter/Fallback.ts"
import * as Retry from "../adapter/retryPolicy.ts"

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

/** One attempt to open a request. */
interface Attempt {
  readonly adapter: Adapter
  readonly request: Request
  /** The adapter and model of the reply, if a fallback gives it. */
  readonly answerer: Answerer | undefined
}

/** The index of the fallback after an attempt. */
export const nextFallback = ({ fallback }: AttemptPlace): number => (fallback === undefined ? 0 : fallback + 1)

const fallbackAt = ({ options }: RunnableRequest, index: number): Fallback.Fallback | undefined =>
  options.engine.fallbacks?.[index]

/** The attempt at a place. */
const attemptOf = (sent: RunnableRequest, { fallback: index }: AttemptPlace): Attempt => {
  const fallback = index === undefined ? undefined : fallbackAt(sent, index)
  if (index === undefined || fallback === undefined)
    return { adapter: sent.adapter, request: sent.request, answerer: undefined }
  const chosen = "adapter" in fallback ? fallback : { adapter: fallback, model: undefined }
  const model = chosen.model ?? sent.request.model
  const said = model === undefined ? {} : { model }
  return {
    adapter: chosen.adapter,
    request: { ...sent.request, ...said },
    answerer: { index, adapter: chosen.adapter.name, ...said }
  }
}

/** The refusal of the attempt at a place, with what the policy and the fallbacks decide. The jitter is drawn here. */
const refused = (sent: RunnableRequest, place: AttemptPlace, error: unknown): RequestRefused => {
  const { retry, system } = sent.options
  return {
    type: "request.refused",
    error: held(refusalOf(error)),
    delayMs: Retry.delayBefore(place.attempt + 1, error, retry, () => System.random(system, "retries")),
    movesAlong: fallbackAt(sent, nextFallback(place)) !== undefined && Fallback.movesAlong(error)
  }
}

const refusalOf = (error: unknown): PreflightError =>
  isPreflightError(error)
    ? error
    : new AdapterError("unknown", {
        cause: error,
        message: `The adapter could not open the request: ${describe(error)}`
      })

/** The refused attempt before a delay. */
export interface RetriedAttempt extends AttemptPlace, Pick<RequestRefused, "error" | "delayMs"> {}

/** A delay of more than this has an event (RETRY5), in milliseconds. */
const longDelayMs = 1_000

/** Reports a delay: a long one as an event, and each to `onRetry`, whose exceptions and rejections are rethrown to the reader. */
export const notifyRetry = (sent: RunnableRequest, retried: RetriedAttempt): void => {
  const { collector, options, outlet } = sent
  const { attempt, delayMs = 0 } = retried
  const error = original(retried.error)
  if (!(error instanceof AdapterError)) return
  const adapter = attemptOf(sent, retried).adapter.name
  if (delayMs > longDelayMs) {
    const { reason } = error
    const retryAt = Math.ceil(options.system.clock.now() + delayMs)
    const event = {
      type: "request_delayed",
      waitMs: Math.ceil(delayMs),
      retryAt,
      attempt,
      adapter,
      reason
    } as const
    collector.apply(event)
    emit(outlet, [event])
  }
  if (options.onRetry === undefined) return
  try {
    const returned: unknown = options.onRetry({ attempt, delayMs, error, adapter, requestId: options.requestId })
    if (isPromiseLike(returned)) Promise.resolve(returned).catch((thrown: unknown) => outlet.fail(thrown))
  } catch (thrown) {
    outlet.fail(thrown)
  }
}

/** The stream of a fallback, whose `message_started` names the adapter and model. All later events pass unchanged. */
const answeredBy = (stream: AdapterStream, answerer: Answerer): AdapterStream => ({
  [Symbol.asyncIterator]: () => {
    const iterator = stream[Symbol.asyncIterator]()
    let started = false
    const marked = (event: AdapterEvent): AdapterEvent => {
      if (started || !isObject(event) || event.type !== "message_started") return event
      started = true
      const { model } = answerer
      const metadata = { ...(model !== undefined && { model }), ...event.metadata, fallback: answerer }
      return { ...event, metadata }
    }
    const mark = (result: IteratorResult<Yielded>): IteratorResult<Yielded> => {
      if (result.done === true) return result
      const { value } = result
      return { done: false, value: isSeveral(value) ? value.map(marked) : marked(value) }
    }
    return {
      next: () => (started ? iterator.next() : iterator.next().then(mark)),
      return: async () => {
        await iterator.return?.()
        return { done: true, value: undefined }
      }
    }
  }
})
