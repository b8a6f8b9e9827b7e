/** The input, the events, the context and the output of a request's chart. */
import type { PreflightError } from "../errors/index.ts"
import type { Response } from "../model/index.ts"
import type { Held } from "../values/index.ts"

/** The place of an attempt: `attempt` counts from 1 for each adapter, `fallback` is the index in the engine's list. */
export interface AttemptPlace {
  readonly attempt: number
  readonly fallback: number | undefined
}

/**
 * The request could not be opened, or failed before its first event.
 *
 * - `error`: the error that the adapter threw, or an `AdapterError` with any other value as its cause
 * - `delayMs`: the delay before the next attempt; `undefined` when the same adapter gets no further attempt
 * - `movesAlong`: whether the next fallback gets the request
 */
export interface RequestRefused {
  readonly type: "request.refused"
  readonly error: Held<PreflightError>
  readonly delayMs: number | undefined
  readonly movesAlong: boolean
}

/** The reader has read past the last event of the request. */
export interface RequestExhausted {
  readonly type: "request.exhausted"
  readonly read?: ReadReply | undefined
}

/**
 * What the owner of a request has read when the request has ended.
 *
 * - `id`: the id of the step
 * - `count`: how many calls of the reply run
 * - `hasUnknownTool`: whether one of them names no tool, and that ends the turn
 */
export interface ReadReply {
  readonly id: string | undefined
  readonly reply: Held<Response>
  readonly count: number
  readonly hasUnknownTool: boolean
}

/**
 * The events of a request's chart.
 *
 * - `request.opened`, from the actor `request`: events can be read
 * - `request.refused`, from the actor `request`: see `RequestRefused`
 * - `request.exhausted`, from its environment: the reader has read past its last event, which may be the `error` event of a cancel or
 *   of the last refusal. `read` is what its owner has read, if it has one
 * - `request.cancel`: end early, with an `error` event
 */
export type AdapterStreamEvent =
  | { readonly type: "request.opened" }
  | RequestRefused
  | RequestExhausted
  | { readonly type: "request.cancel" }

/**
 * The context in a request's snapshot.
 *
 * **Details**: `opened` is whether a stream was ever open, `refusal` the error of the last refused attempt, `delayMs` the
 * delay after it, `read` what its owner has read at its end, `ending` the kind of the output.
 */
export interface AdapterStreamContext extends AttemptPlace {
  readonly delayMs: number
  readonly opened: boolean
  readonly refusal: Held<PreflightError> | undefined
  readonly read: ReadReply | undefined
  readonly ending: AdapterStreamOutput["type"]
}

/** How a request ended: read to its end, or refused before its first event. */
export type AdapterStreamOutput =
  | { readonly type: "exhausted"; readonly read?: ReadReply | undefined }
  | { readonly type: "refused"; readonly error: Held<PreflightError> }
