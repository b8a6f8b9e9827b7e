import { Process, StateMachine, System } from "@troupe/otp"
import { describe, expect, test } from "vitest"
import * as Engine from "../../src/options/Engine.ts"
import type { ChatOptions } from "../../src/options/ChatOptions.ts"
import { error, type HandlerResult, ok } from "../../src/values/HandlerResult.ts"
import { resolveOptions } from "../../src/options/resolveOptions.ts"
import type { RunnableCall } from "../../src/call/callEnv.ts"
import { outcomeOf } from "../../src/call/gateOutcome.ts"
import { toolCallMachine } from "../../src/call/ToolCallMachine.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { handling } from "../double/scripts.ts"
import type { Handler, Tool } from "../../src/tool/toolContract.ts"

/** Checks that never come to an end. */
const unchecked = (tool: Tool): Tool => ({ ...tool, parse: () => new Promise(() => {}) })

const check = leakCheck()

const startCall = (handler: Handler, options: ChatOptions = {}, made = (tool: Tool) => tool) => {
  const { system, clock } = check.system()
  const call: RunnableCall = {
    tool: made(handling("t", handler)),
    toolCall: { id: "c0", name: "t", arguments: {} },
    options: resolveOptions(Engine.make({}), options)
  }
  const pid = StateMachine.start(system, toolCallMachine, {
    input: { drainMs: call.options.drainMs },
    env: { call: () => call }
  })
  const value = () => StateMachine.snapshot(pid).value
  const output = () => {
    const end = StateMachine.output(pid)
    return end === undefined ? undefined : outcomeOf(call, end)
  }
  return { system, clock, pid, value, output }
}

const gate = () => {
  const { promise, resolve } = Promise.withResolvers<HandlerResult>()
  return { handler: () => promise, finish: resolve }
}

describe("CALL1 a call ends in exactly one final state, with one outcome", () => {
  test.each([
    ["completed", () => ok(1)],
    ["failed", () => error("no")],
    ["completed", () => Promise.resolve(ok(1))],
    ["failed", () => Promise.reject(new Error("no"))]
  ] as const)("%s", async (state, handler) => {
    const { pid, clock, value, output } = startCall(handler)
    expect(value()).toBe("queued")
    Process.send(pid, { type: "call.start" })
    await clock.advance(0)
    expect(value()).toBe(state)
    expect(output()?.message).toMatchObject({ role: "tool", toolCallId: "c0" })
    expect(Process.exitReason(pid)).toBe("normal")
  })

  test("cancelled in the queue, the handler never runs", async () => {
    let ran = 0
    const { pid, clock, value, output } = startCall(() => ok(++ran))
    Process.send(pid, { type: "call.cancel" })
    Process.send(pid, { type: "call.start" })
    await clock.advance(0)
    expect(value()).toBe("cancelled")
    expect(output()?.message.content).toContain("cancelled")
    expect(ran).toBe(0)
  })

  test("a result after the end changes nothing", async () => {
    const { handler, finish } = gate()
    const { pid, clock, output } = startCall(handler, { toolTimeoutMs: 5 })
    Process.send(pid, { type: "call.start" })
    await clock.advance(5)
    const before = output()
    finish(ok("late"))
    await clock.advance(0)
    expect(output()).toEqual(before)
  })
})

describe("CALL2 the deadline counts from the start and holds", () => {
  test("a call that waits in the queue has no deadline yet", async () => {
    const { handler, finish } = gate()
    const { pid, clock, value } = startCall(handler, { toolTimeoutMs: 5 })
    await clock.advance(100)
    expect(value()).toBe("queued")
    Process.send(pid, { type: "call.start" })
    await clock.advance(4)
    expect(value()).toBe("running")
    finish(ok(1))
    await clock.advance(0)
    expect(value()).toBe("completed")
    expect(System.stats(Process.systemOf(pid)).timers).toBe(0)
  })

  test("whatever the handler does", async () => {
    const { pid, clock, value, output } = startCall(() => new Promise(() => {}), { toolTimeoutMs: 5 })
    Process.send(pid, { type: "call.start" })
    await clock.advance(5)
    expect(value()).toBe("timed_out")
    expect(output()?.message.content).toContain("timeout")
  })

  test("no deadline at all waits for ever", async () => {
    const { handler, finish } = gate()
    const { pid, clock, value } = startCall(handler, { toolTimeoutMs: Number.POSITIVE_INFINITY })
    Process.send(pid, { type: "call.start" })
    await clock.advance(1e9)
    expect(value()).toBe("running")
    finish(ok(1))
    await clock.advance(0)
    expect(value()).toBe("completed")
  })
})

describe("what the model reads of a late call", () => {
  test("says that its handler was aborted, and may still do something", async () => {
    const { pid, clock, output } = startCall(() => new Promise(() => {}), { toolTimeoutMs: 5 })
    Process.send(pid, { type: "call.start" })
    await clock.advance(5)
    expect(output()?.message).toMatchObject({
      outcome: "timed_out",
      content: '{"error":"timeout: no result within 5 ms; it was told to stop, and may still take effect"}'
    })
  })

  test("says that it never started, where its arguments were still being checked", async () => {
    const { pid, clock, output } = startCall(() => ok(1), { toolTimeoutMs: 5 }, unchecked)
    Process.send(pid, { type: "call.start" })
    await clock.advance(5)
    const content =
      '{"error":"timeout: no result within 5 ms; its arguments were still being checked, and it never started"}'
    expect(output()?.message).toMatchObject({ outcome: "timed_out", content })
  })
})

describe("CALL3 a cancelled call is aborted and waited for, until the drain deadline", () => {
  test("what it returns in time counts", async () => {
    const { handler, finish } = gate()
    const { pid, clock, value, output } = startCall(handler, { drainMs: 5 })
    Process.send(pid, { type: "call.start" })
    Process.send(pid, { type: "call.cancel" })
    await clock.advance(4)
    expect(value()).toBe("cancelling")
    finish(ok("in time"))
    await clock.advance(0)
    expect(value()).toBe("completed")
    expect(output()?.message.content).toBe("in time")
  })

  test("past the deadline it is abandoned", async () => {
    const { pid, clock, value } = startCall(() => new Promise(() => {}), { drainMs: 5 })
    Process.send(pid, { type: "call.start" })
    Process.send(pid, { type: "call.cancel" })
    Process.send(pid, { type: "call.cancel" })
    await clock.advance(5)
    expect(value()).toBe("abandoned")
  })

  test("of one that writes and had begun the model reads that it may have taken effect", async () => {
    const cancelled = async (made: (tool: Tool) => Tool) => {
      const { handler, finish } = gate()
      const { pid, clock, value, output } = startCall(handler, {}, made)
      Process.send(pid, { type: "call.start" })
      await clock.advance(0)
      Process.send(pid, { type: "call.cancel" })
      finish(error("told to stop"))
      await clock.advance(0)
      const content = output()?.message.content
      return [value(), typeof content === "string" && content.includes("may have taken effect")]
    }
    expect(await cancelled((tool) => tool)).toEqual(["cancelled", true])
    expect(await cancelled((tool) => ({ ...tool, effect: "read" }))).toEqual(["cancelled", false])
    expect(await cancelled(unchecked)).toEqual(["cancelled", false])
  })

  test("while its arguments are still being checked it is cancelled at once: nothing has begun", async () => {
    let ran = 0
    const { pid, clock, value } = startCall(() => ok(++ran), { drainMs: 5 }, unchecked)
    Process.send(pid, { type: "call.start" })
    await clock.advance(1)
    Process.send(pid, { type: "call.cancel" })
    await clock.advance(0)
    expect([value(), ran]).toEqual(["cancelled", 0])
  })

  test("killed, it is aborted and answers nobody", async () => {
    let signal: AbortSignal | undefined
    const { pid, clock, output } = startCall((_args, context) => {
      ;({ signal } = context)
      return new Promise(() => {})
    })
    Process.send(pid, { type: "call.start" })
    await clock.advance(0)
    Process.kill(pid)
    expect(signal?.aborted).toBe(true)
    expect(output()).toBeUndefined()
  })
})
