/**
 * Invokes tool handlers.
 *
 * @module
 * @source ALLM.ToolExecutor
 */
import { Process } from "@troupe/otp"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { ToolError } from "../errors/index.ts"
import * as HandlerResult from "../values/HandlerResult.ts"
import { isEffect, isPromiseLike } from "../async/index.ts"
import { isReturned, type Returned } from "./Returned.ts"
import type { Tool, ToolExecutor } from "./toolContract.ts"
import { describe } from "../values/index.ts"

export type { ToolExecutor } from "./toolContract.ts"

/**
 * Calls the handler in this process.
 *
 * **Errors**, as outcomes: `not_found` without a handler, `handler_raised` when it throws or rejects, `handler_exit` when
 * it exits or interrupts itself, `invalid_return` when it returns none of the four outcomes.
 */
export const inProcess: ToolExecutor = {
  execute: (tool, args, context) => {
    if (tool.handler === null) {
      return failed("not_found", tool, `${tool.name} has no handler; the caller must answer its calls`)
    }
    let returned: unknown
    try {
      returned = tool.handler(args, context)
    } catch (thrown) {
      return crashed(tool, thrown)
    }
    if (isEffect(returned)) {
      return Effect.map(Effect.exit(returned), (exit) => {
        if (Exit.isSuccess(exit)) return checked(tool, exit.value)
        return Cause.hasInterruptsOnly(exit.cause)
          ? failed("handler_exit", tool, `the handler of ${tool.name} interrupted itself`)
          : crashed(tool, Cause.squash(exit.cause))
      })
    }
    return isPromiseLike(returned)
      ? Promise.resolve(returned).then(
          (value) => checked(tool, value),
          (thrown: unknown) => crashed(tool, thrown)
        )
      : checked(tool, returned)
  }
}

const checked = (tool: Tool, value: unknown): Returned =>
  isReturned(value)
    ? value
    : failed(
        "invalid_return",
        tool,
        `the handler of ${tool.name} returned ${describe(value)}; return ok(value), error(reason), askUser(question) or halt(reason, result)`,
        value
      )

const crashed = (tool: Tool, thrown: unknown): HandlerResult.Failed =>
  Process.isSelfExit(thrown)
    ? failed("handler_exit", tool, `the handler of ${tool.name} exited: ${describe(thrown.reason)}`, thrown.reason)
    : failed("handler_raised", tool, `the handler of ${tool.name} raised: ${describe(thrown)}`, thrown)

const failed = (
  reason: "not_found" | "handler_raised" | "handler_exit" | "invalid_return",
  tool: Tool,
  message: string,
  cause?: unknown
): HandlerResult.Failed => HandlerResult.error(new ToolError(reason, { toolName: tool.name, message, cause }))
