import { Process } from "@troupe/otp"
import { Effect } from "effect"
import { describe, expect, test } from "vitest"
import * as Chat from "../../src/loop/Chat.ts"
import * as Engine from "../../src/options/Engine.ts"
import { error, ok } from "../../src/values/HandlerResult.ts"
import { defaultSystem } from "../../src/async/defaultSystem.ts"
import type { Ask } from "../../src/gate/permissionRules.ts"
import { make } from "../../src/tool/Tool.ts"
import { until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { processesOf, processOf } from "../double/processes.ts"
import { callThenAnswer, calls, echo, handling, hi, only, readAll, says } from "../double/scripts.ts"
import type { Handler, ToolContext } from "../../src/tool/toolContract.ts"

const check = leakCheck()

/** What the model reads about the one call of this handler. */
const readByTheModel = async (handler: Handler): Promise<unknown> => {
  const adapter = check.fake({ scripts: [calls("t"), says("ok")] })
  const result = await Chat.run(Engine.make({ adapter, tools: [handling("t", handler)] }), hi)
  expect(result.haltedReason).toBe("completed")
  return result.steps[0]?.toolResults[0]?.content
}

/** A value that nothing can turn into text. */
const unspeakable: object = Object.assign(Object.create(null) as object, { big: 1n })

describe("a tool that goes wrong", () => {
  test("a throw is the call's error, and the chat goes on", async () => {
    const content = await readByTheModel(() => {
      throw new Error("kaboom")
    })
    expect(content).toBe('{"error":"handler_raised: the handler of t raised: kaboom"}')
  })

  test("a rejection is the call's error", async () => {
    expect(await readByTheModel(() => Promise.reject(new Error("late")))).toContain("handler_raised")
  })

  test("a failed or dying effect is the call's error", async () => {
    expect(await readByTheModel(() => Effect.fail("no"))).toContain("handler_raised")
    expect(await readByTheModel(() => Effect.die(new Error("bug")))).toContain("handler_raised")
  })

  test("an exit is the call's error, from a function, a promise and an effect", async () => {
    const exits: ReadonlyArray<Handler> = [
      () => Process.exitSelf("gone"),
      () => Promise.reject(Process.exitWith("gone")),
      () => Effect.die(Process.exitWith("gone"))
    ]
    for (const exit of exits)
      expect(await readByTheModel(exit)).toContain("handler_exit: the handler of t exited: gone")
  })

  test("what is thrown may be anything, even what nothing can turn into text", async () => {
    for (const thrown of [undefined, null, 0, "text", Symbol("s"), 1n, unspeakable, () => 1]) {
      expect(
        await readByTheModel(() => {
          throw thrown
        })
      ).toContain("handler_raised")
      expect(await readByTheModel(() => Promise.reject(thrown as Error))).toContain("handler_raised")
      expect(await readByTheModel(() => error(thrown))).toContain("error")
    }
  })

  test("an error whose message throws is the call's error all the same", async () => {
    const hostile = new Error("x")
    Object.defineProperty(hostile, "message", {
      get: () => {
        throw new Error("no message")
      }
    })
    expect(await readByTheModel(() => Promise.reject(hostile))).toContain("handler_raised")
  })

  test("a result that has no text is an encoding error of its call", async () => {
    const cycle: { self?: unknown } = {}
    cycle.self = cycle
    for (const value of [1n, cycle, () => 1, Symbol("s")]) {
      expect(await readByTheModel(() => ok(value))).toContain("encoding_failed")
    }
  })

  test("a call whose process is killed is a handler_exit, its signal is aborted, its siblings go on", async () => {
    const held = Promise.withResolvers<ToolContext>()
    const stuck = handling("stuck", (_args, context) => {
      held.resolve(context)
      return new Promise(() => {})
    })
    const adapter = check.fake({ scripts: [calls("stuck", ["echo", { x: 1 }]), says("ok")] })
    const running = Chat.run(Engine.make({ adapter, tools: [stuck, echo] }), hi)
    const { signal } = await held.promise
    Process.kill(processOf(defaultSystem(), "ToolCall stuck"))
    const result = await running
    expect(signal.aborted).toBe(true)
    expect(result.haltedReason).toBe("completed")
    expect(result.steps[0]?.toolResults.map(({ content }) => content)).toEqual([
      expect.stringContaining("handler_exit"),
      '{"x":1}'
    ])
  })

  test("the deadline of a call that never resolves holds, and its siblings are not touched", async () => {
    const never = Promise.withResolvers<AbortSignal>()
    const tools = [
      handling("never", (_args, { signal }) => {
        never.resolve(signal)
        return new Promise(() => {})
      }),
      echo
    ]
    const adapter = check.fake({ scripts: [calls("never", ["echo", { x: 1 }]), says("ok")] })
    const { troupe, clock } = await check.troupe({ adapter, tools, toolTimeoutMs: 50 })
    const turn = (await troupe.chat("c")).send("go")
    const signal = await never.promise
    await clock.advance(49)
    expect(signal.aborted).toBe(false)
    expect(turn.over).toBe(false)
    await clock.advance(1)
    const result = await turn.result()
    expect(signal.aborted).toBe(true)
    expect(result.steps[0]?.toolResults.map(({ content }) => content)).toEqual([
      expect.stringContaining("timeout: no result within 50 ms"),
      '{"x":1}'
    ])
  })

  test("a tool's own deadline wins over the step's, and an effect past it is interrupted", async () => {
    let interrupted = 0
    const slow = make({
      name: "slow",
      timeoutMs: 10,
      handler: () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => void interrupted++))
    })
    const adapter = check.fake({ scripts: [calls("slow"), says("ok")] })
    const { troupe, clock } = await check.troupe({ adapter, tools: [slow], toolTimeoutMs: 50 })
    const turn = (await troupe.chat("c")).send("go")
    await clock.advance(10)
    expect((await turn.result()).steps[0]?.toolResults[0]?.content).toContain("timeout")
    expect(interrupted).toBe(1)
  })

  test("a call that ignores its signal is waited for until the drain deadline; its late result changes nothing", async () => {
    const late = Promise.withResolvers<ReturnType<typeof ok>>()
    const started = Promise.withResolvers<AbortSignal>()
    const deaf = handling("deaf", (_args, { signal }) => {
      started.resolve(signal)
      return late.promise
    })
    const adapter = check.fake({ scripts: [calls("deaf"), says("ok")] })
    const { troupe, clock } = await check.troupe({ adapter, tools: [deaf], drainMs: 20 })
    const chat = await troupe.chat("c")
    const turn = chat.send("go")
    const signal = await started.promise
    const cancelled = chat.cancel()
    await clock.advance(19)
    expect(signal.aborted).toBe(true)
    expect(turn.over).toBe(false)
    expect(chat.getSnapshot()?.context.toolCalls).toMatchObject([{ id: "c0", status: "cancelling" }])
    await clock.advance(1)
    await cancelled
    const result = await turn.result()
    expect(result.haltedReason).toBe("cancelled")
    expect(result.thread.messages.at(-1)).toMatchObject({ role: "tool", content: expect.stringContaining("cancelled") })
    late.resolve(ok("too late"))
    await clock.advance(0)
    expect(chat.thread).toEqual(result.thread)
    expect(adapter.requests).toHaveLength(1)
  })

  test("a cancelled call that answers in time counts with its answer", async () => {
    const polite = handling(
      "polite",
      (_args, { signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve(ok("half"))))
    )
    const adapter = check.fake({ scripts: [calls("polite")] })
    const { troupe, system } = await check.troupe({ adapter, tools: [polite] })
    const chat = await troupe.chat("c")
    const turn = chat.send("go")
    await until(() => processesOf(system, "ToolCall polite").length === 1)
    await chat.cancel()
    expect((await turn.result()).thread.messages.at(-1)).toMatchObject({ role: "tool", content: "half" })
  })

  test("a policy that throws ends the loop, and is asked once", async () => {
    let asked = 0
    const failing = handling("t", () => error("no"))
    const adapter = check.fake({ scripts: [calls("t"), says("never")] })
    const result = await Chat.run(Engine.make({ adapter, tools: [failing] }), hi, {
      onToolError: () => {
        asked++
        throw unspeakable
      }
    })
    expect(asked).toBe(1)
    expect(result.haltedReason).toBe("tool_error")
    expect(result.metadata["onToolErrorException"]).toBe(unspeakable)
  })

  test("an executor or an encoder that throws, or gives nonsense, is the call's error", async () => {
    const nonsense = [
      () => {
        throw unspeakable
      },
      () => 7 as never,
      () => Promise.reject(new Error("x")) as never
    ]
    for (const execute of nonsense) {
      const adapter = check.fake({ scripts: callThenAnswer })
      const result = await Chat.run(Engine.make({ adapter, tools: [echo] }), hi, { toolExecutor: { execute } })
      expect(result.haltedReason).toBe("completed")
      expect(result.steps[0]?.toolResults[0]?.content).toMatch(/handler_raised|invalid_return/)
    }
    for (const encode of nonsense.slice(0, 2)) {
      const adapter = check.fake({ scripts: callThenAnswer })
      const result = await Chat.run(Engine.make({ adapter, tools: [echo] }), hi, { toolResultEncoder: { encode } })
      expect(result.steps[0]?.toolResults[0]?.content).toContain("encoding_failed")
    }
  })

  test("a schema that throws or rejects is the call's error, and the handler does not run", async () => {
    let ran = 0
    const validate = [
      () => {
        throw new Error("schema")
      },
      () => Promise.reject(new Error("schema"))
    ]
    for (const check_ of validate) {
      const parameters = { "~standard": { version: 1 as const, vendor: "hostile", validate: check_ } }
      const tool = make({ name: "echo", parameters, jsonSchema: { type: "object" }, handler: () => ok(++ran) })
      const adapter = check.fake({ scripts: callThenAnswer })
      const result = await Chat.run(Engine.make({ adapter, tools: [tool] }), hi)
      expect(result.steps[0]?.toolResults[0]?.content).toContain("handler_raised")
    }
    expect(ran).toBe(0)
  })
})

describe("what the model reads of a call that went wrong", () => {
  const long = "x".repeat(1_000_000)

  test("is short; the whole of it stays in the event", async () => {
    const adapter = check.fake({
      scripts: [
        [
          { toolCall: { id: "a", name: "raises" } },
          { toolCall: { id: "b", name: "fails" } },
          { toolCall: { id: "c", name: "wrong" } },
          { toolCall: { id: "d", name: long } },
          { toolCall: { id: "e", name: "echo", rawArguments: long } },
          { finish: "tool_calls" }
        ],
        says("ok")
      ]
    })
    const tools = [
      handling("raises", () => Promise.reject(new Error(`${long}\n    at place (/home/file.ts:1:1)`))),
      handling("fails", () => error(long)),
      handling("wrong", () => long as unknown as ReturnType<typeof ok>),
      echo
    ]
    const stream = await Chat.stream(Engine.make({ adapter, tools }), hi, { onUnknownTool: "continue" })
    const events = await readAll(stream)
    const contents =
      only(events, "chat_completed").result.steps[0]?.toolResults.flatMap(({ content }) =>
        typeof content === "string" ? [content] : []
      ) ?? []
    expect(contents.map((content) => content.length < 2_100)).toEqual([true, true, true, true, true])
    expect(contents.slice(3).map((content) => content.length < 400)).toEqual([true, true])
    expect(contents.join()).not.toContain("/home")
    const failed = events.find((event) => event.type === "tool_execution_completed" && event.id === "b")
    expect(failed).toMatchObject({ result: { reason: long } })
  })

  test("is short too where somebody refused it at length", async () => {
    const adapter = () => check.fake({ scripts: [calls("echo"), says("ok")] })
    const read = async (ask: Ask) => {
      const options = { permissions: { ask } }
      const { steps } = await Chat.run(Engine.make({ adapter: adapter(), tools: [echo] }), hi, options)
      return steps[0]?.toolResults[0]?.content ?? ""
    }
    expect((await read(() => ({ type: "deny", reason: long }))).length).toBeLessThan(2_100)
    expect((await read(() => ({ type: "halt", reason: long }))).length).toBeLessThan(2_100)
  })
})
