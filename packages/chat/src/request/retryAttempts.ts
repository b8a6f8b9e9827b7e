/** The attempts of a model request: their adapter, their delays, and their notices. */
import { System } from "@troupe/otp"
import { type Adapter, type AdapterStream, type Answerer, isSeveral, type Yielded } from "../adapter/index.ts"
import { AdapterError, isObject, isPreflightError, type PreflightError } from "../errors/index.ts"
import { type AdapterEvent, emit } from "../events/index.ts"
import type { Request } from "../model/index.ts"
import * as Fallback from "../adapter/Fallback.ts"
import * as Retry from "../adapter/retryPolicy.ts"
import { describe } from "../values/index.ts"
import { held, original } from "../values/index.ts"
import { isPromiseLike } from "../async/index.ts"
import type { RunnableRequest } from "./requestEnv.ts"
import type { AttemptPlace, RequestRefused } from "./streamContext.ts"

/** One attempt to open a request. */
export interface Attempt {
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
export const attemptOf = (sent: RunnableRequest, { fallback: index }: AttemptPlace): Attempt => {
  const { adapter, request } = sent
  const fallback = index === undefined ? undefined : fallbackAt(sent, index)
  if (index === undefined || fallback === undefined) return { adapter, request, answerer: undefined }
  const chosen = "adapter" in fallback ? fallback : { adapter: fallback, model: undefined }
  const model = chosen.model ?? request.model
  const said = model === undefined ? {} : { model }
  return {
    adapter: chosen.adapter,
    request: { ...request, ...said },
    answerer: { index, adapter: chosen.adapter.name, ...said }
  }
}

/** The refusal of the attempt at a place, with what the policy and the fallbacks decide. The jitter is drawn here. */
export const refused = (sent: RunnableRequest, place: AttemptPlace, error: unknown): RequestRefused => {
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
export const answeredBy = (stream: AdapterStream, answerer: Answerer): AdapterStream => ({
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
