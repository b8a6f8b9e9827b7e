/** The attempts of a model request: their adapter, their delays, and their notices. */
import {
  type Adapter,
  type AdapterStream,
  type Answerer,
  type Fallback,
  isSeveral,
  type Yielded
} from "../adapter/index.ts"
import { AdapterError, isObject } from "../errors/index.ts"
import type { AdapterEvent } from "../events/index.ts"
import type { Request } from "../model/index.ts"
import * as Retry from "../adapter/retryPolicy.ts"
import { isPromiseLike } from "../async/index.ts"
import type { AdapterStreamContext } from "./streamContext.ts"

/** One attempt to open a request. */
export interface Attempt {
  readonly adapter: Adapter
  readonly request: Request
  /** The adapter and model of the reply, if a fallback gives it. */
  readonly answerer: Answerer | undefined
}

/** The engine's fallback at this place. */
export const fallbackOf = ({ options }: AdapterStreamContext, index: number): Fallback | undefined =>
  options.engine.fallbacks?.[index]

/** The attempt that a request's chart is at. */
export const attemptOf = (context: AdapterStreamContext): Attempt => {
  const { adapter, request, fallback: index } = context
  const fallback = index === undefined ? undefined : fallbackOf(context, index)
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

/** The delay before the next attempt; less than 0 when there is none. */
export const nextDelay = ({ attempt, options }: AdapterStreamContext, error: unknown, random: () => number): number =>
  Retry.delayBefore(attempt + 1, error, options.retry, random) ?? -1

/** Calls `onRetry` before a delay; its exceptions and rejections are rethrown to the reader. */
export const notifyRetry = (context: AdapterStreamContext): void => {
  const { attempt, delayMs, options, outlet, refusal } = context
  if (options.onRetry === undefined || !(refusal instanceof AdapterError)) return
  const adapter = attemptOf(context).adapter.name
  try {
    const returned: unknown = options.onRetry({
      attempt,
      delayMs,
      error: refusal,
      adapter,
      requestId: options.requestId
    })
    if (isPromiseLike(returned)) Promise.resolve(returned).catch((error: unknown) => outlet.fail(error))
  } catch (error) {
    outlet.fail(error)
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
      const metadata = { ...(model === undefined ? {} : { model }), ...event.metadata, fallback: answerer }
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
