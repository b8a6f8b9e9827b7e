/**
 * Engines: an adapter, tools and parameters; a plain value.
 *
 * @module
 * @source ALLM.Engine
 */
import * as z from "zod"
import { EngineError } from "../errors/index.ts"
import { type Engine, toolOf } from "../tool/index.ts"
import { EngineOptions } from "./engineOptions.ts"

export { prices } from "../adapter/index.ts"
export type { Engine } from "../tool/index.ts"

/**
 * Makes an engine.
 *
 * **Errors**: throws an `EngineError` (`invalid_engine`) that names each unknown or ill-typed option, and a
 * `ValidationError` (`invalid_tool`) for a provider's tool with a bad part.
 */
export const make = (options: EngineOptions): Engine => {
  const read = EngineOptions.safeParse(options)
  if (!read.success)
    throw new EngineError("invalid_engine", { message: `Engine options: ${z.prettifyError(read.error)}` })
  return {
    ...options,
    tools: (options.tools ?? []).map(toolOf),
    params: options.params ?? {},
    context: options.context ?? {},
    adapterOptions: options.adapterOptions ?? {}
  }
}
