/**
 * Tools: the functions that a model can call.
 *
 * @module
 */
import type { StandardSchemaV1 } from "@standard-schema/spec"
import { argumentsSchemaOf, packageSchema, parserOf } from "./parameters.ts"
import { checkTool } from "./toolChecks.ts"
import type { Described, Keyed } from "./toolDefinition.ts"
import type { Handler, Tool, Parameters } from "./toolContract.ts"

export type { Parameters, Tool, ToolContext } from "./toolContract.ts"

/**
 * Makes a tool whose handler returns one of the four outcomes.
 *
 * **Errors**: throws a `ValidationError` (`invalid_tool`) when the name is not `[A-Za-z0-9_-]{1,64}` or one of the words
 * `auto`, `none`, `required`, when the schema cannot be expressed as JSON Schema or is not that of an object, for an unknown
 * `type` and a `$ref` to a missing part, and for unknown options and options of the wrong type: `errors` names each.
 */
export const make = (
  options: Described &
    Keyed<Record<string, unknown>> & {
      readonly parameters?: Parameters | undefined
      readonly handler?: Handler | null | undefined
    }
): Tool => {
  checkTool(options, "handler")
  const { effect = "write", key, onUnknown = "ask" } = options
  const { provider, deferred, needsApproval } = options
  const parameters = options.parameters ?? packageSchema(provider?.inputSchema) ?? {}
  const background = backgroundOf(options)
  return {
    name: options.name,
    description: options.description ?? "",
    schema: argumentsSchemaOf(options.name, parameters, options.jsonSchema),
    handler: background === undefined ? (options.handler ?? null) : inBackground(background.handler),
    parse: parserOf(parameters),
    manual: options.manual ?? false,
    timeoutMs: options.timeoutMs,
    idleTimeoutMs: options.idleTimeoutMs,
    metadata: options.metadata ?? {},
    effect,
    key,
    onUnknown,
    ...(provider !== undefined && { provider: { id: provider.id, args: provider.args } }),
    ...(background !== undefined && { background }),
    ...(deferred !== undefined && { deferred }),
    ...(needsApproval !== undefined && { needsApproval })
  }
}

const backgroundOf = ({
  background,
  handler
}: Pick<Described, "background"> & { readonly handler?: Handler | null | undefined }): Tool["background"] =>
  background === undefined || handler === undefined || handler === null
    ? undefined
    : { afterMs: background === true ? 0 : background.afterMs, handler }

/** Gives the call to its chat; without a live chat the work runs in the call. */
const inBackground =
  (work: Handler): Handler =>
  (args, context) => {
    const { chat, toolCall, signal, progress, idempotencyKey: key } = context
    return chat?.background === undefined ? work(args, context) : chat.background({ toolCall, key, signal, progress })
  }

/** The type of a tool's arguments, from its `parameters`. */
export type ArgumentsOf<P> =
  P extends StandardSchemaV1<infer _Input, infer Output> ? Output : Readonly<Record<string, unknown>>

export { nameProblem } from "../errors/index.ts"
