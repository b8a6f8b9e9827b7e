/** What is checked before a first request: thread, adapter, request, in this order. */
import { EngineError } from "../ChatError.ts"
import type { Engine } from "../Engine.ts"
import type { Thread } from "../Thread.ts"
import * as Validate from "../Validate.ts"
import { requestOf } from "./request.ts"
import type { RunOptions } from "./resolveOptions.ts"

/** Throws the first thing that is wrong. */
export const preflight = (engine: Engine, thread: Thread, options: RunOptions): void => {
  const invalidThread = Validate.thread(thread)
  if (invalidThread !== undefined) throw invalidThread
  checkAdapter(engine)
  const invalidRequest = Validate.request(requestOf({ engine, thread, options }))
  if (invalidRequest !== undefined) throw invalidRequest
}

/** Throws when the engine cannot talk to a model. */
const checkAdapter = (engine: Engine): void => {
  if (engine.adapter === undefined) throw new EngineError("missing_adapter")
  if (typeof engine.adapter.stream !== "function") throw new EngineError("missing_stream_adapter")
}
