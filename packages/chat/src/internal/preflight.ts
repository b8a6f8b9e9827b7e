/** What is checked before a first request: thread, adapter, request, in this order. */
import { EngineError } from "../ChatError.ts"
import type { Engine } from "../Engine.ts"
import type { Request } from "../Request.ts"
import type { Thread } from "../Thread.ts"
import * as Validate from "../Validate.ts"
import { requestOf } from "./request.ts"
import type { RunOptions } from "./resolveOptions.ts"

/** Throws the first thing that is wrong. */
export const preflight = (engine: Engine, thread: Thread, options: RunOptions): void => {
  const invalidThread = Validate.thread(thread)
  if (invalidThread !== undefined) throw invalidThread
  preflightRequest(engine, thread, options)
}

/** The same for a request that is no step of a thread: the adapter first. Gives the request. */
export const preflightRequest = (engine: Engine, thread: Thread, options: RunOptions): Request => {
  checkAdapter(engine)
  const request = requestOf({ engine, thread, options })
  const { structuredFinalize } = options
  const invalid = Validate.request(structuredFinalize === undefined ? request : { ...request, structuredFinalize })
  if (invalid !== undefined) throw invalid
  return request
}

/** Throws when the engine cannot talk to a model. */
const checkAdapter = (engine: Engine): void => {
  if (engine.adapter === undefined) throw new EngineError("missing_adapter")
  if (typeof engine.adapter.stream !== "function") throw new EngineError("missing_stream_adapter")
}
