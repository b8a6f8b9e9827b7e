/** The outcome of a case's call, in the case's own form. */
import { AdapterError, EngineError, SessionError, ValidationError } from "@troupe/chat/errors"
import type { Event } from "@troupe/chat/events"
import { type Fields, fieldsOf } from "../runner/json.ts"
import { NotRun } from "../runner/suite.ts"
import type { Observations } from "./behaviours.ts"
import { forms } from "./values/forms.ts"
import { errorForm, ScriptedException } from "./values/plain.ts"

/** A call of a case. */
export type Operation = (given: Fields, seen: Observations) => Promise<Outcome> | Outcome

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
    if (failure instanceof NotRun) throw failure
    return { failure }
  }
}

/** The result of a call under the name of a facet, or its rejection. */
export const valued = async (call: () => unknown, facet = "value"): Promise<Outcome> => {
  const { ok = null, failure } = await settled(call)
  return failure === undefined ? { [facet]: ok } : { failure }
}

/** Reads a stream as a case's `consume` describes, and releases it. */
export const read = async (events: AsyncIterable<Event>, consume?: unknown): Promise<StreamOutcome> => {
  const { take = consume === "none" ? 0 : Infinity, until_tag: until, throw_on_tag: throwOn } = fieldsOf(consume)
  const raw: Array<Event> = []
  const iterator = events[Symbol.asyncIterator]()
  let failure: unknown
  try {
    while (raw.length < Number(take)) {
      const next = await iterator.next()
      if (next.done === true || next.value.type === until) break
      raw.push(next.value)
      if (next.value.type === throwOn) break
    }
  } catch (thrown) {
    failure = thrown
  }
  await iterator.return?.()
  const pairs = raw.map(forms.event.to)
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

/** A stream begins with its first event: a typed error before it is the call's failure. */
export const streamed = (stream: StreamOutcome): Outcome => {
  const { raw, failure } = stream
  return raw.length === 0 && (returnable(failure) || failure instanceof ValidationError) ? { failure } : { stream }
}
