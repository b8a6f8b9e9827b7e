/** The state of one adapter stream. */

import type { Adapter } from "../adapter/index.ts"
import type { PassedOptions, SourceOptions } from "./adapterSource.ts"
import type { Engine } from "../tool/index.ts"
import type { Outlet, StreamCollector } from "../events/index.ts"
import type { RunOptions } from "../options/index.ts"
import type { Request } from "../model/index.ts"
import type { PreflightError } from "../errors/index.ts"

/** The options of a request: how it is opened, retried and read. The engine has the fallbacks. */
type StreamOptions = PassedOptions &
  SourceOptions &
  Pick<RunOptions, "retry" | "onRetry" | "trace"> & { readonly engine: Pick<Engine, "fallbacks"> }

/** The input of a request's chart. */
export interface AdapterStreamInput {
  readonly adapter: Adapter
  readonly request: Request
  readonly options: StreamOptions
  readonly collector: StreamCollector
  readonly outlet: Outlet
}

/**
 * The context in a request's snapshot.
 *
 * **Details**: `attempt` counts from 1 for each adapter; `fallback` is the index of the present fallback in the engine's
 * list, or `undefined`; `delayMs` is the present or last delay, `refusal` the error of the last refused attempt.
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
