/** The outcome of a case's call, in the case's own form. */
import { AdapterError, EngineError, SessionError, ValidationError } from "@troupe/chat/errors"
import type { Event } from "@troupe/chat/events"
import type { Fields } from "../runner/fields.ts"
import { ScriptedException } from "./scripted.ts"
import { errorForm, eventForm } from "./values/toNeutral.ts"

/**
 * One facet for each kind of expectation.
 *
 * **Details**: `failure` is the rejection of the call, `stream.failure` the rejection of a read.
 */
export interface Outcome {
  readonly ok?: unknown
  readonly value?: unknown
  readonly failure?: unknown
  readonly stream?: StreamOutcome
  readonly [facet: string]: unknown
}

/** The part of a stream that was read. */
export interface StreamOutcome {
  readonly raw: ReadonlyArray<Event>
  readonly events: ReadonlyArray<readonly [string, unknown]>
  readonly last: unknown
  readonly failure?: unknown
}

/** Waits for the result or the rejection of a call. */
export const settled = async (call: () => unknown): Promise<Outcome> => {
  try {
    return { ok: await call() }
  } catch (failure) {
    return { failure }
  }
}

/** How a case reads a stream: all of it, or not. */
export interface Consumption {
  readonly none: boolean
  readonly take: number
  readonly until: string | undefined
  readonly throwOn: string | undefined
}

/** Reads a `consume` of a case. */
export const consumptionOf = (value: unknown): Consumption => {
  const {
    take,
    until_tag: until,
    throw_on_tag: throwOn
  } = typeof value === "object" && value !== null ? (value as Fields) : {}
  return {
    none: value === "none",
    take: typeof take === "number" ? take : Infinity,
    until: until as string | undefined,
    throwOn: throwOn as string | undefined
  }
}

/** Reads a stream as the case describes, and releases it. */
export const read = async (events: AsyncIterable<Event>, how: Consumption): Promise<StreamOutcome> => {
  const raw: Array<Event> = []
  const iterator = events[Symbol.asyncIterator]()
  let failure: unknown
  try {
    while (!how.none && raw.length < how.take) {
      const next = await iterator.next()
      if (next.done === true || next.value.type === how.until) break
      raw.push(next.value)
      if (next.value.type === how.throwOn) break
    }
  } catch (thrown) {
    failure = thrown
  }
  await iterator.return?.()
  const pairs = raw.map(eventForm)
  return { raw, events: pairs, last: pairs.at(-1)?.[1], ...(failure === undefined ? {} : { failure }) }
}

/** Whether the reference returns the failure; it raises mistakes of the caller. */
export const returnable = (failure: unknown): boolean =>
  failure instanceof EngineError ||
  failure instanceof AdapterError ||
  (failure instanceof SessionError && failure.reason !== "invalid_status_for_operation") ||
  (failure instanceof ValidationError && failure.reason !== "invalid_options")

/** A failure in the form of a case's `error`. */
export const failureForm = (failure: unknown): unknown => errorForm(failure)["$error"] ?? errorForm(failure)

/** Whether a failure is a case's own exception. */
export const isScripted = (failure: unknown): failure is ScriptedException => failure instanceof ScriptedException
