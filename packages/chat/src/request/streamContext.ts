/** The state of one adapter stream. */

import type { Adapter } from "../adapter/index.ts"
import type { Outlet, StreamCollector } from "../events/index.ts"
import type { RunOptions } from "../options/index.ts"
import type { Request } from "../model/index.ts"
import type { PreflightError } from "../errors/index.ts"

/** What a request's chart is started with. */
export interface AdapterStreamInput {
  readonly adapter: Adapter
  readonly request: Request
  readonly options: RunOptions
  readonly collector: StreamCollector
  readonly outlet: Outlet
}

/**
 * What a request's snapshot holds.
 *
 * **Details**: `attempt` counts from 1 for each adapter asked; `fallback` is the place of the fallback that is asked, in the
 * engine's list, or `undefined`; `delayMs` is the present or last wait, `refusal` what the last attempt was refused with.
 */
export interface AdapterStreamContext extends AdapterStreamInput {
  readonly attempt: number
  readonly fallback: number | undefined
  readonly delayMs: number
  readonly refusal: unknown
  readonly output: AdapterStreamOutput
}

/** How a request ended: read to its end, or refused before its first event. */
export type AdapterStreamOutput =
  | { readonly type: "exhausted" }
  | { readonly type: "refused"; readonly error: PreflightError }
