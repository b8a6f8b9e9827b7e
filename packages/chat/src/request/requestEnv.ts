/** The live things of a model request: adapters, options and the output of its events, which are no data of a chart. */
import type { Adapter } from "../adapter/index.ts"
import type { Outlet, StreamCollector } from "../events/index.ts"
import type { Request } from "../model/index.ts"
import type { RunOptions } from "../options/index.ts"
import type { PreflightError } from "../errors/index.ts"
import type { ReadReply } from "./streamContext.ts"

/** A model request to send. */
export interface RunnableRequest {
  readonly adapter: Adapter
  readonly request: Request
  readonly options: RunOptions
  readonly collector: StreamCollector
  readonly outlet: Outlet
  /** Reads the reply for the owner of the request, once the request has ended. */
  readonly read?: (() => ReadReply) | undefined
}

/** The environment of model requests. */
export interface RequestEnv {
  /** The request of the chart, the same for each attempt. */
  readonly request: () => RunnableRequest
  /** Why the request is not sent, if it is not. */
  readonly compactions?: { readonly refusal: PreflightError | undefined } | undefined
}
