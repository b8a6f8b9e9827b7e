/** The checks before a first request: thread, adapter, request, in this order. */
import type { Adapter } from "../adapter/index.ts"
import { EngineError, ValidationError } from "../errors/index.ts"
import { messagesAdvice, type Request, type Thread } from "../model/index.ts"
import * as Validate from "../model/Validate.ts"
import { requestOf } from "./buildRequest.ts"
import type { FixedOptions } from "../options/index.ts"
import type { Engine } from "../tool/index.ts"

/** Throws the error of the first check that fails. */
export const preflight = (engine: Engine, thread: Thread, options: FixedOptions): void => {
  const invalidThread = Validate.thread(thread)
  if (invalidThread !== undefined) throw invalidThread
  preflightRequest(engine, thread, options)
}

/** The same checks for a request that is no step of a thread: the adapter first. Returns the request. */
export const preflightRequest = (engine: Engine, thread: Thread, options: FixedOptions): Request => {
  checkAdapter(engine)
  if (!Array.isArray((thread as Partial<Thread> | undefined)?.messages)) {
    const found = [{ field: ["messages"], reason: "must_be_a_list of messages" }]
    throw new ValidationError("invalid_request", found, { advice: messagesAdvice(thread) })
  }
  const request = requestOf({ engine, thread, options })
  const { structuredFinalize } = options
  const invalid = Validate.request(structuredFinalize === undefined ? request : { ...request, structuredFinalize })
  if (invalid !== undefined) throw invalid
  return request
}

/** The engine's adapter; throws without one. */
export const adapterIn = ({ adapter }: Pick<Engine, "adapter">): Adapter => {
  if (adapter === undefined) throw new EngineError("missing_adapter")
  return adapter
}

/** Throws when the engine cannot send requests to a model. */
const checkAdapter = (engine: Pick<Engine, "adapter" | "fallbacks">): void => {
  for (const asked of [adapterIn(engine), ...(engine.fallbacks ?? [])]) {
    const adapter = "adapter" in asked ? asked.adapter : asked
    if (typeof adapter.stream !== "function") throw new EngineError("missing_stream_adapter")
  }
}
