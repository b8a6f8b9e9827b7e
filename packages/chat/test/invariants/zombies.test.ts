import { EventLoop, Observer, Process, System, Telemetry } from "@troupe/otp"
import { Effect } from "effect"
import { describe, expect, test } from "vitest"
import * as Chat from "../../src/loop/Chat.ts"
import { ToolError } from "../../src/errors/ChatError.ts"
import * as Engine from "../../src/options/Engine.ts"
import type { Adapter } from "../../src/adapter/Adapter.ts"
import { error, type HandlerResult, ok } from "../../src/values/HandlerResult.ts"
import { runToolCalls } from "../../src/session/ToolRunner.ts"
import * as Zombies from "../../src/call/Zombies.ts"
import { hop } from "../double/hop.ts"
import { collected } from "../double/collected.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { processesOf } from "../double/processes.ts"
import { refusal } from "../double/refusal.ts"
import { calls, handling, hi, readAll, said, says } from "../double/scripts.ts"
import type { LateResult } from "../../src/options/callPolicy.ts"
import type { Handler, ToolContext } from "../../src/tool/toolContract.ts"
import type { RecordStore } from "../../src/store/sessionStore.ts"

const check = leakCheck()

/** A handler that ignores its signal, and ends when the test lets it. */
const deaf = () => {
  const { promise, resolve, reject } = Promise.withResolvers<HandlerResult>()
  const contexts: Array<ToolContext> = []
  const handler: Handler = (_args, context) => {
    contexts.push(context)
    return promise
  }
  return { handler, end: resolve, fail: reject, contexts }
}

const call = { id: "c0", name: "t", arguments: {} }

describe("ZOMBIE1 a handler is listed from the turn after its call was over until it ends", () => {
  test("with its call, how that ended, since when and how long, and in the observer", async () => {
    const { system, clock } = check.system()
    const { handler, end } = deaf()
    const run = runToolCalls([call], [handling("t", handler)], { system, toolTimeoutMs: 50, sessionId: "s1" })
    await clock.advance(50)
    const { messages } = await run
    expect(messages.map(said)).toEqual([expect.stringContaining("no result within 50 ms")])
    await clock.advance(25)
    expect(Zombies.list(system)).toEqual([
      { toolCallId: "c0", name: "t", sessionId: "s1", outcome: "timed_out", since: 50, ageMs: 25 }
    ])
    expect(Observer.tree(system).map(({ label }) => label)).toEqual(["Zombie t, 25 ms"])
    end(ok("late"))
    await clock.advance(0)
    expect(Zombies.list(system)).toEqual([])
    expect(Observer.tree(system)).toEqual([])
    expect(Zombies.counts(system)).toEqual({ listed: 0, late: 1 })
  })

  const aware: Readonly<Record<string, Handler>> = {
    "a promise": (_args, { signal }) =>
      new Promise((resolve) => signal.addEventListener("abort", () => resolve(ok("told")))),
    "a rejection": (_args, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("told")))),
    "an effect": () => Effect.never
  }

  test.each(Object.entries(aware))("%s that ends when it is aborted was never one", async (_name, handler) => {
    const { system, clock } = check.system()
    const run = runToolCalls([call], [handling("t", handler)], { system, toolTimeoutMs: 50 })
    await clock.advance(50)
    expect((await run).messages[0]?.outcome).toBe("timed_out")
    expect(Zombies.counts(system)).toEqual({ listed: 0, late: 0 })
  })

  test("an effect that cannot be interrupted is one until it ends", async () => {
    const { system, clock } = check.system()
    const slow = Effect.uninterruptible(Effect.as(Effect.sleep(100), ok("late")))
    const run = runToolCalls([call], [handling("t", () => slow)], { system, toolTimeoutMs: 50 })
    await clock.advance(50)
    expect((await run).messages[0]?.outcome).toBe("timed_out")
    expect(Zombies.counts(system)).toEqual({ listed: 1, late: 0 })
    await clock.advance(50)
    expect(Zombies.counts(system)).toEqual({ listed: 0, late: 1 })
  })
})

describe("ZOMBIE2 of each that ends telemetry and `onLateResult` are notified once", () => {
  test("with what it came to, how its call had ended, and how late it was", async () => {
    const { system, clock } = check.system()
    const events: Array<unknown> = []
    Telemetry.attach(system, "tool_call", ({ name, at, measurements, metadata }) =>
      events.push({ name, at, measurements, metadata })
    )
    const late: Array<LateResult> = []
    const { handler, fail } = deaf()
    const options = { system, toolTimeoutMs: 50, onLateResult: (one: LateResult) => void late.push(one) }
    const run = runToolCalls([call], [handling("t", handler)], options)
    await clock.advance(50)
    await run
    await clock.advance(30)
    fail(new Error("too late"))
    await clock.advance(0)
    expect(events).toEqual([
      {
        name: "tool_call.late_completion",
        at: 80,
        measurements: { lateMs: 30 },
        metadata: { toolCall: call, sessionId: undefined, outcome: "timed_out", result: "error" }
      }
    ])
    expect(late).toMatchObject([
      {
        toolCall: call,
        outcome: "timed_out",
        lateMs: 30,
        result: { type: "error", reason: { reason: "handler_raised" } }
      }
    ])
  })

  test.each([
    ["rejects", () => Promise.reject(new Error("listener"))],
    [
      "throws",
      () => {
        throw new Error("listener")
      }
    ]
  ])("a listener that %s changes nothing", async (_name, onLateResult) => {
    const { system, clock } = check.system()
    const { handler, end } = deaf()
    const run = runToolCalls([call], [handling("t", handler)], { system, toolTimeoutMs: 50, onLateResult })
    await clock.advance(50)
    await run
    end(ok("late"))
    await clock.advance(0)
    expect(Zombies.counts(system)).toEqual({ listed: 0, late: 1 })
  })
})

test("ZOMBIE3 each way in which a call leaves its handler behind is listed once, under its name", async () => {
  const { system, clock } = check.system()
  const { handler } = deaf()
  const tools = [handling("t", handler)]
  const engine = Engine.make({ adapter: check.fake({ scripts: Array.from({ length: 4 }, () => calls("t")) }), tools })

  const timedOut = runToolCalls([call], tools, { system, toolTimeoutMs: 10 })
  await clock.advance(10)
  await timedOut

  const { signal, abort } = check.signal()
  const abandoned = Chat.run(engine, hi, { system, signal, drainMs: 5 })
  await clock.advance(0)
  abort()
  await clock.advance(5)
  expect((await abandoned).thread.messages.at(-1)).toMatchObject({ role: "tool", outcome: "abandoned" })

  const killed = runToolCalls([call], tools, { system })
  await clock.advance(0)
  for (const pid of processesOf(system, "ToolCall")) Process.kill(pid)
  expect((await killed).messages[0]?.outcome).toBe("failed")

  const left = await Chat.stream(engine, hi, { system })
  const reading = readAll(left)
  await clock.advance(0)
  await left.return?.()
  await reading
  await clock.advance(0)

  expect(Zombies.list(system).map(({ outcome }) => outcome)).toEqual(["timed_out", "abandoned", "failed", "cancelled"])
})

test("ZOMBIE4 the end of a system waits for no handler, and forgets none", async () => {
  const { system, clock } = check.system()
  const { handler, end } = deaf()
  const run = runToolCalls([call], [handling("t", handler)], { system, toolTimeoutMs: 10 })
  await clock.advance(10)
  await run
  await System.stop(system)
  expect(Zombies.counts(system)).toEqual({ listed: 1, late: 0 })
  end(error("late"))
  await new Promise<void>((resolve) => EventLoop.nextTurn(resolve))
  expect(Zombies.counts(system)).toEqual({ listed: 0, late: 1 })
})

describe("EXEC5 a handler that is listed holds nothing of its chat", () => {
  /** It calls `t`, then says something, and keeps no request. */
  const forgetful = (): Adapter => {
    let requests = 0
    return {
      name: "forgetful",
      stream: async function* () {
        const calling = requests++ === 0
        if (calling) {
          yield { type: "tool_call_started", id: "c0", name: "t" }
          yield { type: "tool_call_completed", id: "c0", name: "t", arguments: {}, rawArguments: "{}" }
        }
        const message = { role: "assistant" as const, content: "" }
        yield { type: "message_completed", message, finishReason: calling ? "tool_calls" : "stop" }
      }
    }
  }
  const keepsNothing: RecordStore = { load: () => undefined, save: () => undefined, delete: () => undefined }

  /** Has the call of a chat given up, and stops that: its thread, its turn and itself, which only the handler may hold. */
  const givenUp = async (handler: Handler, end: "timeout" | "cancel" | "restart") => {
    const { troupe, clock } = await check.troupe({
      adapter: forgetful(),
      store: keepsNothing,
      tools: [handling("t", handler)],
      ...(end === "timeout" ? { toolTimeoutMs: 50 } : { drainMs: 50 })
    })
    const chat = await troupe.chat("c")
    const turn = chat.send("go")
    await clock.advance(1)
    if (end === "cancel") void chat.cancel()
    if (end === "restart") void chat.restartToolCall("c0")
    await clock.advance(50)
    if (end === "restart") void chat.cancel()
    await clock.advance(50)
    await turn.result()
    const { thread } = chat
    const [first = thread] = thread.messages
    const refs = [thread, first, chat, turn].map((one: object) => new WeakRef(one))
    await chat.stop()
    return { refs, system: troupe.system }
  }

  test.each(["timeout", "cancel", "restart"] as const)("a promise, after a %s", async (end) => {
    const contexts: Array<ToolContext> = []
    const handler: Handler = (_args, context) => {
      contexts.push(context)
      return new Promise(() => {})
    }
    const { refs, system } = await givenUp(handler, end)
    expect(Zombies.counts(system).listed).toBeGreaterThan(0)
    expect(await collected(refs)).toEqual(refs.map(() => true))
    expect(contexts.length).toBeGreaterThan(0)
  })

  test("an effect that cannot be interrupted", async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const waits = Effect.uninterruptible(
      Effect.as(
        Effect.promise(() => promise),
        ok("late")
      )
    )
    const { refs, system } = await givenUp(() => waits, "timeout")
    expect(Zombies.counts(system).listed).toBe(1)
    expect(await collected(refs)).toEqual(refs.map(() => true))
    resolve()
    await hop()
    expect(Zombies.counts(system)).toEqual({ listed: 0, late: 1 })
  })
})

describe("EXEC5 a run that is over is fenced", () => {
  test("late progress and late words to the chat change nothing, and the latter are refused", async () => {
    const { handler, end, contexts } = deaf()
    const adapter = check.fake({ scripts: [calls("t"), says("done")] })
    const tools = [handling("t", handler)]
    const { troupe, clock } = await check.troupe({ adapter, tools, toolTimeoutMs: 50 })
    const chat = await troupe.chat("c")
    const turn = chat.send("go")
    await clock.advance(10)
    contexts[0]?.progress("in time")
    expect(chat.getSnapshot()?.context.toolCalls[0]?.progress).toBe("in time")
    await clock.advance(40)
    const { thread } = await turn.result()
    expect(troupe.zombies()).toMatchObject([{ toolCallId: "c0", sessionId: "c", outcome: "timed_out" }])
    contexts[0]?.progress("late")
    const refused = await refusal(() => contexts[0]?.chat?.send("late"))
    expect(refused).toBeInstanceOf(ToolError)
    expect(refused).toMatchObject({ reason: "cancelled", toolCallId: "c0" })
    end(ok("late"))
    await clock.advance(0)
    expect(chat.thread).toBe(thread)
    expect(chat.getSnapshot()?.context.inbox).toEqual([])
  })

  test("a call that completed says nothing more either", async () => {
    let kept: ToolContext | undefined
    const adapter = check.fake({ scripts: [calls("t"), says("done")] })
    const tool = handling("t", (_args, context) => {
      kept = context
      return ok(1)
    })
    const { troupe } = await check.troupe({ adapter, tools: [tool] })
    await (await troupe.chat("c")).send("go").result()
    expect(await refusal(() => kept?.chat?.send("late"))).toMatchObject({ reason: "cancelled" })
  })

  test("while its call runs a handler steers the chat it belongs to", async () => {
    const adapter = check.fake({ scripts: [calls("t"), says("done")] })
    const tool = handling("t", async (_args, { chat }) => {
      await chat?.send("by the way")
      return ok(chat?.id)
    })
    const { troupe } = await check.troupe({ adapter, tools: [tool] })
    const { thread } = await (await troupe.chat("c")).send("go").result()
    expect(thread.messages.map(said)).toEqual(["go", "", "c", "by the way", "done"])
  })

  test("the functional face has no chat to speak to", async () => {
    const seen: Array<unknown> = []
    const tool = handling("t", (_args, { chat }) => {
      seen.push(chat)
      return ok(1)
    })
    await runToolCalls([call], [tool], { sessionId: "s1" })
    expect(seen).toEqual([undefined])
  })
})
