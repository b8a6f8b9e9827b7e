/**
 * Tools: the functions that a model can call.
 *
 * @module
 */
import type { StandardSchemaV1 } from "@standard-schema/spec"
import * as Effect from "effect/Effect"
import * as HandlerResult from "../values/HandlerResult.ts"
import { isEffect, isPromiseLike } from "../async/index.ts"
import { jsonSchemaOf, parserOf } from "./parameters.ts"
import { checkTool } from "./toolChecks.ts"
import type { ToolContext, Handler, Tool, ToolEffect, OnUnknown, Parameters } from "./toolContract.ts"

export type { Handler, Parameters, Tool, ToolContext } from "./toolContract.ts"

interface Described {
  readonly name: string
  readonly description?: string | undefined
  /** JSON Schema of the arguments, for Standard Schemas whose library cannot produce it. */
  readonly jsonSchema?: Readonly<Record<string, unknown>> | undefined
  /** The caller answers the calls of this tool. Default `false`. */
  readonly manual?: boolean | undefined
  /** Deadline of one call in milliseconds; overrides the step's `toolTimeoutMs`. */
  readonly timeoutMs?: number | undefined
  /** How long one call may go without `progress`, in milliseconds; overrides the step's `toolIdleTimeoutMs`. */
  readonly idleTimeoutMs?: number | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** Whether the tool's calls change something. Default `"write"`. */
  readonly effect?: ToolEffect | undefined
  /** How a call is handled that may have run when the program ended. Default `"ask"`. */
  readonly onUnknown?: OnUnknown | undefined
}

interface Keyed<A> {
  /**
   * Names the resource that a call uses: calls with different keys never conflict. Default: none, and such a call may
   * conflict with every other.
   *
   * **Contract**: synchronous and without side effects; gets valid arguments. A call whose key function throws, or returns
   * neither a string nor `undefined`, fails without running.
   */
  readonly key?: ((args: A) => string | undefined) | undefined
}

/**
 * Makes a tool whose handler returns one of the four outcomes.
 *
 * **Errors**: throws a `ValidationError` (`invalid_tool`) when the name is not `[A-Za-z0-9_-]{1,64}` or one of the words
 * `auto`, `none`, `required`, when the schema cannot be expressed as JSON Schema, and for unknown options and options of
 * the wrong type: `errors` names each.
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
  const parameters = options.parameters ?? {}
  return {
    name: options.name,
    description: options.description ?? "",
    schema: options.jsonSchema ?? jsonSchemaOf(parameters, "invalid_tool", [options.name, "parameters"]),
    handler: options.handler ?? null,
    parse: parserOf(parameters),
    manual: options.manual ?? false,
    timeoutMs: options.timeoutMs,
    idleTimeoutMs: options.idleTimeoutMs,
    metadata: options.metadata ?? {},
    effect,
    key,
    onUnknown
  }
}

/**
 * Makes a tool from an ordinary function: its return value is the tool's result, unless it is one of the outcomes made by
 * `ok`, `error`, `askUser` and `halt`. A manual tool, whose calls the caller answers, needs no function.
 *
 * @example
 * ```ts
 * const add = tool({
 *   name: "add",
 *   description: "Adds two numbers",
 *   parameters: z.object({ a: z.number(), b: z.number() }),
 *   execute: ({ a, b }) => a + b
 * })
 * ```
 */
export const tool = <const P extends Parameters = Readonly<Record<string, unknown>>>(
  options: Described &
    Keyed<ArgumentsOf<P>> & { readonly parameters?: P | undefined } & (
      | { readonly execute: (args: ArgumentsOf<P>, context: ToolContext) => unknown }
      | { readonly manual: true; readonly execute?: undefined }
    )
): Tool => {
  checkTool(options, "execute")
  const { execute, key, ...rest } = options
  const described = { ...rest, key: key as Keyed<Record<string, unknown>>["key"] }
  if (execute === undefined) return make(described)
  return make({
    ...described,
    handler: (args, context) => {
      const returned = execute(args as ArgumentsOf<P>, context)
      if (isEffect(returned)) return Effect.map(returned, asResult)
      return isPromiseLike(returned) ? Promise.resolve(returned).then(asResult) : asResult(returned)
    }
  })
}

/** The type of a tool's arguments, from its `parameters`. */
export type ArgumentsOf<P> =
  P extends StandardSchemaV1<infer _Input, infer Output> ? Output : Readonly<Record<string, unknown>>

export { nameProblem } from "../errors/index.ts"

const asResult = (value: unknown): HandlerResult.HandlerResult =>
  HandlerResult.isBranded(value) ? (value as HandlerResult.HandlerResult) : HandlerResult.ok(value)
