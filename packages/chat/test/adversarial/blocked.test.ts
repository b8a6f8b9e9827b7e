/** Handlers that block the thread past their deadline: no timer can run, and time passes all the same. */
import { Clock, System } from "@troupe/otp"
import * as Effect from "effect/Effect"
import { describe, expect, test } from "vitest"
import * as Dispatch from "../../src/batch/Dispatch.ts"
import { askUser, error, halt, ok } from "../../src/values/HandlerResult.ts"
import { Deadlines } from "../../src/call/deadlines.ts"
import * as Store from "../../src/store/Store.ts"
import { make } from "../../src/tool/Tool.ts"
import { runToolCalls } from "../../src/session/ToolRunner.ts"
import { Troupe } from "../../src/troupe/Troupe.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { callThenAnswer, handling } from "../double/scripts.ts"
import type { Handler, ToolContext } from "../../src/tool/toolContract.ts"

const check = leakCheck()

/** A system, and a function that lets its time pass as a blocked thread does: without running a timer. */
const blockable = () => {
  const clock = Clock.test()
  let blocked = 0
  const system = System.make({
    name: "test",
    clock: {
      now: () => clock.now() + blocked,
      setTimeout: (run, ms) => clock.setTimeout(run, ms),
      clearTimeout: (id) => clock.clearTimeout(id)
    }
  })
  return {
    clock,
    system,
    block: (ms: number): void => {
      blocked += ms
    }
  }
}

const call = { id: "c0", name: "t", arguments: {} }

describe("CALL6 a result after the deadline is discarded, also when the handler blocked the thread", () => {
  type Blocking = (block: (ms: number) => void) => Handler
  const handlers: ReadonlyArray<readonly [string, Blocking]> = [
    [
      "a handler that returns",
      (block) => () => {
        block(21)
        return ok("late")
      }
    ],
    [
      "a handler that resolves",
      (block) => async () => {
        await Promise.resolve()
        block(21)
        return ok("late")
      }
    ],
    [
      "an Effect handler",
      (block) => () =>
        Effect.sync(() => {
          block(21)
          return ok("late")
        })
    ],
    [
      "a handler that fails",
      (block) => () => {
        block(21)
        return error("late")
      }
    ],
    [
      "a handler that throws",
      (block) => () => {
        block(21)
        throw new Error("late")
      }
    ],
    [
      "a handler that asks",
      (block) => () => {
        block(21)
        return askUser("late?")
      }
    ],
    [
      "a handler that halts",
      (block) => () => {
        block(21)
        return halt("late", 1)
      }
    ]
  ]

  test.each(handlers)("%s is timed out", async (_, handler) => {
    const { system, block } = blockable()
    const { messages, halt: halted } = await runToolCalls([call], [handling("t", handler(block))], {
      system,
      toolTimeoutMs: 20
    })
    expect(halted).toBeUndefined()
    expect(messages).toEqual([
      {
        role: "tool",
        toolCallId: "c0",
        outcome: "timed_out",
        content:
          '{"error":"timeout: no result within 20 ms; it ended after that, and its result was discarded; it may have taken effect"}'
      }
    ])
    await System.stop(system)
  })

  test("a result at the deadline, or before it, counts", async () => {
    for (const ms of [0, 19, 20]) {
      const { system, block } = blockable()
      const handler: Handler = () => {
        block(ms)
        return ok("in time")
      }
      const { messages } = await runToolCalls([call], [handling("t", handler)], { system, toolTimeoutMs: 20 })
      expect(messages).toMatchObject([{ outcome: "completed", content: "in time" }])
      await System.stop(system)
    }
  })

  test("the deadline without a result or progress counts too, and progress behind it defers nothing", async () => {
    const { system, block } = blockable()
    const handler: Handler = (_args, context: ToolContext) => {
      block(8)
      context.progress("on time")
      block(11)
      context.progress("late")
      return ok(1)
    }
    const { messages } = await runToolCalls([call], [handling("t", handler)], { system, toolIdleTimeoutMs: 10 })
    expect(messages).toMatchObject([{ outcome: "timed_out" }])
    await System.stop(system)
  })

  test("`onToolTimeout` decides what follows, and is called once", async () => {
    const { system, block } = blockable()
    const handler: Handler = () => {
      block(21)
      return ok("late")
    }
    let asked = 0
    const { messages } = await runToolCalls([call], [handling("t", handler)], {
      system,
      toolTimeoutMs: 20,
      onToolTimeout: () => {
        asked++
        return { continue: "instead" }
      }
    })
    expect(asked).toBe(1)
    expect(messages).toMatchObject([{ outcome: "timed_out", content: "instead" }])
    await System.stop(system)
  })

  test("in a living chat, and the turn goes on with the timeout", async () => {
    const { system, block } = blockable()
    const tool = make({
      name: "echo",
      handler: () => {
        block(60)
        return ok("late")
      }
    })
    const adapter = check.fake({ scripts: callThenAnswer })
    const store = Store.memory()
    const troupe = await Troupe.start({ adapter, tools: [tool], toolTimeoutMs: 50, system, store })
    const result = await (await troupe.chat("a")).send("hi").result()
    expect(result.haltedReason).toBe("completed")
    expect(result.thread.messages[2]).toMatchObject({ role: "tool", outcome: "timed_out" })
    const history = await store.history("a")
    expect(history.flatMap(({ messages }) => messages).filter(({ role }) => role === "tool")).toHaveLength(1)
    await troupe.stop()
    await System.stop(system)
  })
})

test("DEADLINE5 `missed` compares the clock, before a timer has run, and not while an answer is waited for", async () => {
  const { clock, block, system } = blockable()
  const deadlines = new Deadlines(system.clock, { totalMs: 20, idleMs: 10 }, { passed: () => {} })
  block(10)
  expect(deadlines.missed).toBeUndefined()
  block(1)
  expect(deadlines.missed).toBe("neither a result nor progress for 10 ms")
  const answer = Promise.withResolvers<number>()
  const held = deadlines.holding(answer.promise)
  block(100)
  expect(deadlines.missed).toBeUndefined()
  answer.resolve(1)
  await held
  expect(deadlines.missed).toBeUndefined()
  block(21)
  expect(deadlines.missed).toBe("no result within 20 ms")
  deadlines.clear()
  expect(clock.pending).toBe(0)
  await System.stop(system)
})

test.each(["effects", "reference"] as const)(
  "DISP3 under `%s` a result after the deadline is discarded, with its state, also when the runner blocked the thread",
  async (schedule) => {
    const { system, block } = blockable()
    const tools = [{ name: "r", effect: "read" as const }]
    const calls = [
      { id: "c0", name: "r", arguments: {} },
      { id: "c1", name: "r", arguments: {} }
    ]
    const runner: Dispatch.Runner<Dispatch.DispatchState, unknown> = (toolCall, state) => {
      if (toolCall.id === "c0") block(61)
      return [toolCall.id, { ...state, seen: toolCall.id }]
    }
    const run = await Dispatch.run(calls, { tools, toolTimeoutMs: 60, maxConcurrency: 1 }, runner, {
      schedule,
      system
    })
    expect(run.type === "ok" ? run.results : run).toMatchObject([{ outcome: "timed_out" }, "c1"])
    await System.stop(system)
  }
)
