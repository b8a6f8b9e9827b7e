/** The laws of an executor: the outcome of each way a handler can end. */
import * as Effect from "effect/Effect"
import { ToolError, type ToolErrorReason } from "../errors/index.ts"
import * as HandlerResult from "../values/HandlerResult.ts"
import {
  type Awaitable,
  type Handler,
  make,
  type Returned,
  type ToolContext,
  type ToolExecutor
} from "../tool/index.ts"
import { isEffect } from "../async/index.ts"
import { holds, type Law, law } from "./stores/index.ts"
import { describe } from "../toolResult/index.ts"

const contextOf = (signal: AbortSignal): ToolContext => ({
  context: { user: "u1" },
  sessionId: "s1",
  requestId: "r1",
  toolCall: { id: "c0", name: "probe", arguments: { x: 1 } },
  signal,
  progress: () => {},
  idempotencyKey: "s1/c0/0.0",
  setPermissionMode: async () => {}
})

const settled = (answer: Awaitable<Returned>): Promise<Returned> =>
  isEffect(answer) ? Effect.runPromise(answer) : Promise.resolve(answer)

const executed = async (
  executor: ToolExecutor,
  handler: Handler | null,
  context = contextOf(new AbortController().signal)
): Promise<Returned> => settled(executor.execute(make({ name: "probe", handler }), { x: 1 }, context))

const outcomes: ReadonlyArray<HandlerResult.HandlerResult> = [
  HandlerResult.ok({ deep: [1, 2] }),
  HandlerResult.ok(undefined),
  HandlerResult.error("a reported failure"),
  HandlerResult.error(undefined),
  HandlerResult.askUser("which?"),
  HandlerResult.askUser("which?", { choices: ["a", "b"] }),
  HandlerResult.halt("plan_submitted", { steps: 3 })
]

const ways: ReadonlyArray<readonly [string, (result: HandlerResult.HandlerResult) => ReturnType<Handler>]> = [
  ["at once", (result) => result],
  ["in a promise", (result) => Promise.resolve(result)],
  ["in an Effect", (result) => Effect.succeed(result)]
]

const failure = async (
  executor: ToolExecutor,
  reason: ToolErrorReason,
  handler: Handler | null
): Promise<ToolError> => {
  const result = await executed(executor, handler)
  holds(
    result.type === "error" && result.reason instanceof ToolError && result.reason.reason === reason,
    () => `instead of a ToolError ${reason} came ${describe(result)}`
  )
  return (result as HandlerResult.Failed).reason as ToolError
}

const foreign: ReadonlyArray<unknown> = ["done", undefined, 1, { type: "ok", value: 1 }, []]

/** The laws of `ToolExecutor`. */
export const executorLaws = (executor: () => ToolExecutor): ReadonlyArray<Law> => [
  ...ways.map(([way, give]) =>
    law(`an outcome returned ${way} comes back as it is`, async () => {
      for (const outcome of outcomes) {
        const result = await executed(executor(), () => give(outcome))
        holds(result === outcome, () => `${describe(outcome)} became ${describe(result)}`)
      }
    })
  ),
  law("the handler gets its arguments and its context unchanged", async () => {
    const context = contextOf(new AbortController().signal)
    let seen: readonly [unknown, unknown] | undefined
    await executed(
      executor(),
      (...given) => {
        seen = given
        return HandlerResult.ok(null)
      },
      context
    )
    holds(JSON.stringify(seen?.[0]) === '{"x":1}' && seen?.[1] === context, () => `the handler got ${describe(seen)}`)
  }),
  law("what a handler throws, or rejects with, is handler_raised with that as its cause", async () => {
    const boom = new Error("boom")
    const raise: Handler = () => {
      throw boom
    }
    for (const handler of [raise, () => Promise.reject(boom), () => Effect.fail(boom), () => Effect.die(boom)]) {
      const { cause, toolName } = await failure(executor(), "handler_raised", handler)
      holds(cause === boom && toolName === "probe", () => `the cause is ${describe(cause)}, the tool ${toolName}`)
    }
  }),
  law("what is none of the four outcomes is invalid_return with that as its cause", async () => {
    for (const value of foreign) {
      const { cause } = await failure(executor(), "invalid_return", () => value as HandlerResult.HandlerResult)
      holds(cause === value, () => `the cause of ${describe(value)} is ${describe(cause)}`)
    }
  }),
  law("a tool without a handler is not_found", async () => {
    await failure(executor(), "not_found", null)
  })
]
