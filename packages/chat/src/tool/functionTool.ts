/** Tools from ordinary functions. */
import * as Effect from "effect/Effect"
import { ToolError } from "../errors/index.ts"
import * as HandlerResult from "../values/HandlerResult.ts"
import { isEffect, isPromiseLike } from "../async/index.ts"
import { checkTool } from "./toolChecks.ts"
import { isReturned, type Returned } from "./Returned.ts"
import { type ArgumentsOf, make } from "./Tool.ts"
import type { Described, Keyed } from "./toolDefinition.ts"
import type { Parameters, Tool, ToolContext } from "./toolContract.ts"

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
  const { execute, key, needsApproval, ...rest } = options
  const described = { ...rest, ...({ key, needsApproval } as Keyed<Record<string, unknown>>) }
  if (execute === undefined) return make(described)
  return make({
    ...described,
    handler: (args, context) => {
      const returned = execute(args as ArgumentsOf<P>, context)
      if (isEffect(returned)) return Effect.map(returned, asResult)
      return isPromiseLike(returned)
        ? Promise.resolve(returned).then((value) => (isEffect(value) ? promisedEffect(options.name) : asResult(value)))
        : asResult(returned)
    }
  })
}

/** A promise of an Effect is not run: it is most often a mistake. */
const promisedEffect = (toolName: string): HandlerResult.Failed =>
  HandlerResult.error(
    new ToolError("invalid_return", {
      toolName,
      message: `the handler of ${toolName} returned a promise of an Effect, which is not run; return the Effect itself`
    })
  )

const asResult = (value: unknown): Returned =>
  HandlerResult.isBranded(value) || isReturned(value) ? (value as Returned) : HandlerResult.ok(value)
