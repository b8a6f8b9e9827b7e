/**
 * Fallbacks: the adapters or models that get a request when the engine's adapter fails.
 *
 * FALL1. The next fallback is called only before the first event of a request, when the retries of the adapter before it
 *        are used up, and only for an error that is not about the request itself (`movesAlong`).
 * FALL2. `metadata.fallback` of a response names the fallback that answered. It is absent for the engine's own adapter.
 *
 * @module
 */
import type { Adapter } from "./Adapter.ts"
import { AdapterError, type AdapterErrorReason } from "../errors/index.ts"

/** Another adapter, or another model of an adapter. `model` defaults to the request's. */
export type Fallback = Adapter | { readonly adapter: Adapter; readonly model?: string | undefined }

/** The fallback that answered instead of the engine's adapter: `metadata.fallback`. `index` counts from 0. */
export interface Answerer {
  readonly index: number
  readonly adapter: string
  readonly model?: string | undefined
}

/** Errors about the request itself. Another model would fail too, or would bypass a decision of the provider. */
const final: ReadonlySet<AdapterErrorReason> = new Set(["invalid_request", "content_filter", "no_scripted_response"])

/**
 * Whether another model may succeed after this error.
 *
 * **Details**: `true` for a provider that is busy, down, slow, unreachable or sends malformed responses, for rejected
 * keys, for a context too long for its model and for unsupported features. `false` for an invalid request, a content
 * filter, and any error that is not an `AdapterError`: such an error is a bug in the adapter.
 */
export const movesAlong = (error: unknown): boolean => error instanceof AdapterError && !final.has(error.reason)
