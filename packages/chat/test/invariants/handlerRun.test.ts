import { Effect, Fiber } from "effect"
import { expect, test } from "vitest"
import * as Engine from "../../src/options/Engine.ts"
import { type HandlerResult, ok } from "../../src/values/HandlerResult.ts"
import { resolveOptions } from "../../src/options/resolveOptions.ts"
import type { RunnableCall } from "../../src/call/callEnv.ts"
import { HandlerRun } from "../../src/call/handlerRun.ts"
import { original } from "../../src/values/held.ts"
import type { Returned } from "../../src/tool/Returned.ts"
import { make } from "../../src/tool/Tool.ts"
import { hop } from "../double/hop.ts"
import type { Handler, ToolContext } from "../../src/tool/toolContract.ts"

/** A run of a call without a chart: its results, without deadlines. */
const running = (call: RunnableCall) => {
  const settled: Array<Returned> = []
  const { promise: outcome, resolve } = Promise.withResolvers<Returned>()
  const execution = new HandlerRun(
    {
      send: (event) => {
        if (event.type !== "handler.settled") return
        const result = original(event.result)
        settled.push(result)
        resolve(result)
      },
      host: undefined,
      env: { call: () => call }
    },
    call,
    { totalMs: Infinity, idleMs: Infinity }
  )
  return { execution, settled, outcome }
}

const executing = (handler: Handler, args: Record<string, unknown> | null = {}, parameters: object = {}) => {
  const tool = make({ name: "t", parameters: parameters as Record<string, unknown>, handler })
  const toolCall = { id: "c0", name: "t", arguments: args, rawArguments: "{" }
  return running({ tool, toolCall, options: resolveOptions(Engine.make({}), {}) })
}

test("EXEC1 a run settles once, at once for a value, later for a promise or an effect", async () => {
  for (const handler of [() => ok(1), () => Promise.resolve(ok(1)), () => Effect.succeed(ok(1))]) {
    const { execution, settled } = executing(handler)
    execution.start()
    await hop()
    execution.abort()
    execution.stop()
    await hop()
    expect(settled).toEqual([ok(1)])
  }
  const { execution, settled } = executing(() => ok(1))
  execution.start()
  expect(settled).toHaveLength(1)
})

test("EXEC1 an executor that answers twice settles once", async () => {
  const answersTwice = {
    // oxlint-disable-next-line unicorn/no-thenable -- a foreign promise that breaks its contract
    then: (resolve: (value: HandlerResult) => void) => {
      resolve(ok(1))
      resolve(ok(2))
    }
  }
  const toolExecutor = { execute: () => answersTwice as unknown as Promise<Returned> }
  const toolCall = { id: "c0", name: "t", arguments: {} }
  const options = resolveOptions(Engine.make({}), { toolExecutor })
  const { execution, settled } = running({ tool: make({ name: "t" }), toolCall, options })
  execution.start()
  await hop()
  expect(settled).toEqual([ok(1)])
})

test("EXEC2 `abort` aborts the handler's signal and goes on waiting for it", async () => {
  const { execution, settled } = executing(
    (_args, { signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve(ok("half"))))
  )
  execution.start()
  await hop()
  expect(settled).toEqual([])
  execution.abort()
  await hop()
  expect(settled).toEqual([ok("half")])
})

test("EXEC2 `abort` interrupts an effect, which then is cancelled", async () => {
  const { execution, settled } = executing(() => Effect.never)
  execution.start()
  execution.abort()
  await hop()
  expect(settled).toMatchObject([{ type: "error", reason: { reason: "cancelled" } }])
})

test.each([
  ["fails with an interruption", Effect.interrupt],
  ["interrupts its own fiber", Effect.withFiber((fiber) => Fiber.interrupt(fiber))]
])("EXEC2 an effect that %s has the result `handler_exit`", async (_, effect) => {
  const { execution, settled } = executing(() => effect as Effect.Effect<never>)
  execution.start()
  await hop()
  expect(settled).toMatchObject([{ type: "error", reason: { reason: "handler_exit" } }])
})

test("EXEC1 after `stop` whatever the handler does changes nothing", async () => {
  const late = Promise.withResolvers<HandlerResult>()
  let seen: ToolContext | undefined
  const { execution, settled } = executing((_args, context) => {
    seen = context
    return late.promise
  })
  execution.start()
  execution.stop()
  expect(seen?.signal.aborted).toBe(true)
  late.resolve(ok("late"))
  await hop()
  expect(settled).toEqual([])
})

test("EXEC1 stopped while its arguments are checked, the handler does not run", async () => {
  let ran = 0
  const checking = Promise.withResolvers<{ readonly value: object }>()
  const parameters = { "~standard": { version: 1 as const, vendor: "slow", validate: () => checking.promise } }
  const tool = make({ name: "t", parameters, jsonSchema: {}, handler: () => ok(++ran) })
  const toolCall = { id: "c0", name: "t", arguments: {} }
  const { execution } = running({ tool, toolCall, options: resolveOptions(Engine.make({}), {}) })
  execution.start()
  execution.stop()
  checking.resolve({ value: {} })
  await hop()
  expect(ran).toBe(0)
})

test("EXEC4 the handler runs only with arguments that fit", async () => {
  let ran = 0
  const schema = { type: "object", properties: { x: { type: "number" } }, required: ["x"] }
  for (const args of [null, {}, { x: "1" }]) {
    const { execution, outcome } = executing(() => ok(++ran), args, schema)
    execution.start()
    // The first check loads the validator.
    expect(await outcome).toMatchObject({ type: "error", reason: { reason: "invalid_arguments", toolCallId: "c0" } })
  }
  expect(ran).toBe(0)
  executing(() => ok(++ran), { x: 1 }, schema).execution.start()
  expect(ran).toBe(1)
})
