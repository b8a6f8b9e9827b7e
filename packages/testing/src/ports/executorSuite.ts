/** The laws of an executor: the outcome of each way a handler can end. */
import * as Effect from "effect/Effect"
import { askUser, error, halt, ok } from "@troupe/chat"
import { describe, ToolError } from "@troupe/chat/errors"
import type { HandlerResult } from "@troupe/chat/results"
import { Tool, type ToolExecutor } from "@troupe/chat/tools"
import { holds, type Law, law } from "../law/index.ts"

type Executor = ToolExecutor.ToolExecutor
type Handler = NonNullable<Tool.Tool["handler"]>
type Answer = ReturnType<Executor["execute"]>
type Returned = Effect.Success<Extract<Answer, Effect.Effect<unknown, unknown>>>

const contextOf = (signal: AbortSignal): Tool.ToolContext => ({
  context: { user: "u1" },
  sessionId: "s1",
  requestId: "r1",
  toolCall: { id: "c0", name: "probe", arguments: { x: 1 } },
  signal,
  progress: () => {},
  idempotencyKey: "s1/c0/0.0",
  setPermissionMode: async () => {}
})

const settled = (answer: Answer): Promise<Returned> =>
  Effect.isEffect(answer) ? Effect.runPromise(answer) : Promise.resolve(answer)

const executed = async (
  executor: Executor,
  handler: Handler | null,
  context = contextOf(new AbortController().signal)
): Promise<Returned> => settled(executor.execute(Tool.make({ name: "probe", handler }), { x: 1 }, context))

const outcomes: ReadonlyArray<HandlerResult> = [
  ok({ deep: [1, 2] }),
  ok(undefined),
  error("a reported failure"),
  error(undefined),
  askUser("which?"),
  askUser("which?", { choices: ["a", "b"] }),
  halt("plan_submitted", { steps: 3 })
]

const ways: ReadonlyArray<readonly [string, (result: HandlerResult) => ReturnType<Handler>]> = [
  ["at once", (result) => result],
  ["in a promise", (result) => Promise.resolve(result)],
  ["in an Effect", (result) => Effect.succeed(result)]
]

const failure = async (
  executor: Executor,
  reason: ToolError["reason"],
  handler: Handler | null
): Promise<ToolError> => {
  const result = await executed(executor, handler)
  holds(
    result.type === "error" && result.reason instanceof ToolError && result.reason.reason === reason,
    () => `instead of a ToolError ${reason} came ${describe(result)}`
  )
  return (result as Extract<HandlerResult, { readonly type: "error" }>).reason as ToolError
}

const foreign: ReadonlyArray<unknown> = ["done", undefined, 1, { type: "ok", value: 1 }, []]

/** The laws of `ToolExecutor`. */
export const executorLaws = (executor: () => Executor): ReadonlyArray<Law> => [
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
        return ok(null)
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
      const { cause } = await failure(executor(), "invalid_return", () => value as HandlerResult)
      holds(cause === value, () => `the cause of ${describe(value)} is ${describe(cause)}`)
    }
  }),
  law("a tool without a handler is not_found", async () => {
    await failure(executor(), "not_found", null)
  })
]
