/** The live things of a model request: adapters, options and the output of its events, which are no data of a chart. */
import type { Adapter } from "../adapter/index.ts"
import type { Outlet, StreamCollector } from "../events/index.ts"
import type { Request } from "../model/index.ts"
import type { RunOptions } from "../options/index.ts"
import type { Engine } from "../tool/index.ts"
import type { PassedOptions, SourceOptions } from "./adapterSource.ts"

/** The options of a request: how it is opened, retried and read. The engine has the fallbacks. */
type StreamOptions = PassedOptions &
  SourceOptions &
  Pick<RunOptions, "retry" | "onRetry" | "trace"> & { readonly engine: Pick<Engine, "fallbacks" | "prices"> }

/** A model request to send. */
export interface RunnableRequest {
  readonly adapter: Adapter
  readonly request: Request
  readonly options: StreamOptions
  readonly collector: StreamCollector
  readonly outlet: Outlet
}

/** The environment of model requests. */
export interface RequestEnv {
  /** The request of the chart, the same for each attempt. */
  readonly request: () => RunnableRequest
}
