/**
 * Fallbacks: who is asked when a model refuses a request.
 *
 * FALL1. The next is asked only before the first event of a request, when the retries of the one before it are used up,
 *        and only for a refusal that says nothing about the request itself (`movesAlong`).
 * FALL2. A reply says who gave it: `metadata.fallback` of its response, absent when the engine's own adapter did.
 *
 * @module
 */
import type { Adapter } from "./Adapter.ts"
import { AdapterError, type AdapterErrorReason } from "../errors/index.ts"

/** Another adapter, or another model of one; without `model` it is asked for the request's. */
export type Fallback = Adapter | { readonly adapter: Adapter; readonly model?: string | undefined }

/** Who answered in place of the engine's adapter: `metadata.fallback` of a response. `index` counts from 0. */
export interface Answerer {
  readonly index: number
  readonly adapter: string
  readonly model?: string | undefined
}

/** Refusals of the request as such: asking another for it is either useless or goes round a decision. */
const final: ReadonlySet<AdapterErrorReason> = new Set(["invalid_request", "content_filter", "no_scripted_response"])

/**
 * Whether another model may do better.
 *
 * **Details**: yes for a provider that is busy, down, slow, out of reach or misunderstood, for keys it does not take, for
 * a context too long for its model and for features it lacks. No for an invalid request, a content filter, and whatever
 * is no `AdapterError`: that is a fault of the adapter, to be seen and mended.
 *
 * @example
 * ```ts import.meta.vitest
 * import { AdapterError } from "@troupe/chat"
 * import { Fallback } from "@troupe/chat/models"
 *
 * Fallback.movesAlong(new AdapterError("context_length_exceeded")) // => true
 * Fallback.movesAlong(new AdapterError("content_filter")) // => false
 * ```
 */
export const movesAlong = (error: unknown): boolean => error instanceof AdapterError && !final.has(error.reason)
