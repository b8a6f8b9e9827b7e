import { Process } from "@troupe/otp"
import { expect, test } from "vitest"
import type { LocalChatRef } from "../../src/troupe/LocalChatRef.ts"
import * as Engine from "../../src/options/Engine.ts"
import { type HandlerResult, ok } from "../../src/values/HandlerResult.ts"
import { Outlet } from "../../src/events/outlet.ts"
import { resolveOptions } from "../../src/options/resolveOptions.ts"
import type { CallControl } from "../../src/call/toolCallView.ts"
import { newCalls } from "../../src/batch/batchCalls.ts"
import { startBatchOf } from "../double/batching.ts"
import { hop, until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { refusal } from "../double/refusal.ts"
import { calls, echo, handling, said, says } from "../double/scripts.ts"
import type { Tool, ToolContext } from "../../src/tool/toolContract.ts"
import type { TroupeOptions } from "../../src/troupe/troupeOptions.ts"

const check = leakCheck()

/** A tool whose runs end when the test says so. */
const held = (name: string) => {
  const runs: Array<{ readonly context: ToolContext; readonly end: (result: HandlerResult) => void }> = []
  const tool = handling(name, (_args, context) => {
    const { promise, resolve } = Promise.withResolvers<HandlerResult>()
    runs.push({ context, end: resolve })
    return promise
  })
  return { tool, runs }
}

const started = async (names: ReadonlyArray<string>, options: Partial<TroupeOptions>) => {
  const adapter = check.fake({ scripts: [calls(...names), says("done")] })
  const { troupe, system, clock } = await check.troupe({ adapter, drainMs: 100, schedule: "concurrent", ...options })
  const chat = await troupe.chat("c")
  const turn = chat.send("go")
  await clock.advance(0)
  return { troupe, system, clock, chat, turn }
}

const statuses = (chat: LocalChatRef) =>
  chat.getSnapshot()?.context.toolCalls.map(({ id, status, outcome }) => [id, outcome ?? status])

/** Whether a promise has settled by now. */
const watched = (promise: Promise<unknown>) => {
  const state = { settled: false }
  void promise.finally(() => {
    state.settled = true
  })
  return state
}

test("BATCH7 one call is cancelled: its siblings and the turn go on, and the model reads it", async () => {
  const [a, b] = [held("a"), held("b")]
  const { chat, turn, clock } = await started(["a", "b"], { tools: [a.tool, b.tool] })
  const cancelled = watched(chat.cancelToolCall("c0"))
  await clock.advance(0)
  expect(statuses(chat)).toEqual([
    ["c0", "cancelling"],
    ["c1", "running"]
  ])
  expect([a.runs[0]?.context.signal.aborted, b.runs[0]?.context.signal.aborted]).toEqual([true, false])
  await clock.advance(99)
  expect(cancelled.settled).toBe(false)
  await clock.advance(1)
  expect(cancelled.settled).toBe(true)
  expect(statuses(chat)).toEqual([
    ["c0", "abandoned"],
    ["c1", "running"]
  ])
  b.runs[0]?.end(ok("fine"))
  const { haltedReason, thread } = await turn.result()
  expect(haltedReason).toBe("completed")
  expect(thread.messages.map(said)).toEqual([
    "go",
    "",
    expect.stringContaining("may still take effect"),
    "fine",
    "done"
  ])
})

test("BATCH7 all calls are cancelled, those that wait too, and the turn goes on", async () => {
  const a = held("a")
  const tools = [a.tool, echo]
  const { chat, turn, clock } = await started(["a", "echo", "echo"], { tools, maxConcurrency: 1 })
  const cancelled = chat.cancelToolCalls()
  a.runs[0]?.end(ok("in time"))
  await cancelled
  await clock.advance(0)
  const { haltedReason, thread } = await turn.result()
  expect(haltedReason).toBe("completed")
  expect(thread.messages.filter(({ role }) => role === "tool")).toMatchObject([
    { outcome: "completed", content: "in time" },
    { outcome: "cancelled" },
    { outcome: "cancelled" }
  ])
})

test("BATCH7 a queued call that is cancelled holds up nobody behind it", async () => {
  const [a, b, c] = [held("a"), held("b"), held("c")]
  const tools = [a.tool, b.tool, c.tool]
  const { chat, turn } = await started(["a", "b", "c"], { tools, schedule: "effects" })
  await chat.cancelToolCall("c1")
  a.runs[0]?.end(ok(1))
  await chat.cancelToolCall("c2")
  const { thread } = await turn.result()
  expect(b.runs).toEqual([])
  expect(thread.messages.filter(({ role }) => role === "tool")).toMatchObject([
    { outcome: "completed" },
    { outcome: "cancelled" },
    { outcome: "cancelled" }
  ])
})

test("BATCH7 a queued call that is cancelled is out of the order at once: what waited for it alone starts", async () => {
  const [a, b, c, d] = [held("a"), held("b"), held("c"), held("d")]
  const keyed = (tool: Tool): Tool => ({ ...tool, key: () => tool.name })
  const tools = [keyed(a.tool), b.tool, keyed(c.tool), d.tool]
  const { chat, turn, clock } = await started(["a", "b", "c", "d"], { tools, schedule: "effects" })
  await chat.cancelToolCall("c1")
  await clock.advance(0)
  expect(statuses(chat)).toEqual([
    ["c0", "running"],
    ["c1", "cancelled"],
    ["c2", "running"],
    ["c3", "queued"]
  ])
  c.runs[0]?.end(ok(3))
  await hop()
  expect(d.runs).toEqual([])
  a.runs[0]?.end(ok(1))
  await until(() => d.runs.length === 1)
  d.runs[0]?.end(ok(4))
  await turn.result()
  expect([a, b, c, d].map(({ runs }) => runs.length)).toEqual([1, 0, 1, 1])
})

test("CALL4 a restarted call runs again under its key, and what the former run says no longer counts", async () => {
  const [a, b] = [held("a"), held("b")]
  const { chat, turn, clock, troupe } = await started(["a", "b"], { tools: [a.tool, b.tool], toolTimeoutMs: 1_000 })
  a.runs[0]?.context.progress("half")
  await clock.advance(900)
  const restarted = watched(chat.restartToolCall("c0"))
  await clock.advance(0)
  expect(statuses(chat)).toEqual([
    ["c0", "restarting"],
    ["c1", "running"]
  ])
  expect(a.runs[0]?.context.signal.aborted).toBe(true)
  b.runs[0]?.end(ok("sibling"))
  await clock.advance(100)
  expect(restarted.settled).toBe(true)
  expect(chat.getSnapshot()?.context.toolCalls[0]).toMatchObject({
    status: "running",
    startedAt: 1_000,
    progress: undefined
  })
  const [key, again] = a.runs.map(({ context }) => context.idempotencyKey)
  expect(key).toMatch(/^c\/c0\/.*\.0$/)
  expect(again).toBe(key)
  expect(troupe.zombies()).toMatchObject([{ toolCallId: "c0", outcome: "restarted", since: 1_000 }])
  a.runs[0]?.context.progress("late")
  a.runs[0]?.end(ok("former"))
  await clock.advance(900)
  expect(chat.getSnapshot()?.context.toolCalls[0]).toMatchObject({ status: "running", progress: undefined })
  a.runs[1]?.end(ok("latter"))
  const { thread } = await turn.result()
  expect(thread.messages.slice(2, 4).map(said)).toEqual(["latter", "sibling"])
  expect(troupe.zombies()).toEqual([])
})

test("CALL4 a former run that ends when aborted is followed by the next at once", async () => {
  let runs = 0
  const tool = handling("t", (_args, { signal }) =>
    ++runs === 1
      ? new Promise((resolve) => signal.addEventListener("abort", () => resolve(ok("former"))))
      : ok(`run ${runs}`)
  )
  const { chat, turn } = await started(["t"], { tools: [tool] })
  await chat.restartToolCall("c0")
  expect((await turn.result()).thread.messages.map(said)).toEqual(["go", "", "run 2", "done"])
})

test("CALL4 a call that is cancelled while it is restarted is over, whatever its former run says", async () => {
  const a = held("a")
  const { chat, turn, clock } = await started(["a"], { tools: [a.tool] })
  const restarted = chat.restartToolCall("c0")
  await clock.advance(0)
  const cancelled = chat.cancelToolCall("c0")
  a.runs[0]?.end(ok("former"))
  await Promise.all([restarted, cancelled])
  const { thread } = await turn.result()
  expect(a.runs).toHaveLength(1)
  expect(thread.messages.at(2)).toMatchObject({ role: "tool", outcome: "cancelled" })
})

test("a call that does not run is refused by name", async () => {
  const a = held("a")
  const { chat, turn, clock } = await started(["a", "a"], { tools: [a.tool], maxConcurrency: 1 })
  const notRunning = { _tag: "SessionError", reason: "tool_call_not_running" }
  expect(await refusal(() => chat.cancelToolCall("nope"))).toMatchObject({
    ...notRunning,
    metadata: { toolCallId: "nope" }
  })
  expect(await refusal(() => chat.restartToolCall("c1"))).toMatchObject(notRunning)
  a.runs[0]?.end(ok(1))
  await clock.advance(0)
  expect(await refusal(() => chat.cancelToolCall("c0"))).toMatchObject(notRunning)
  a.runs[1]?.end(ok(2))
  await turn.result()
  expect(await refusal(() => chat.restartToolCall("c1"))).toMatchObject(notRunning)
  await chat.cancelToolCalls()
})

test("calls of one id are cancelled together, those that are over left as they are", async () => {
  const { system, clock } = check.system()
  const a = held("a")
  const options = resolveOptions(Engine.make({ tools: [a.tool] }), { drainMs: 100 })
  const { toolsByName } = options
  const call = { id: "x", name: "a", arguments: {} }
  const outlet = new Outlet()
  outlet.drive(() => {})
  let control: CallControl | undefined
  const watcher = { toolCallsChanged: (_: unknown, now: CallControl | undefined) => (control = now) }
  const { output } = startBatchOf(system, {
    calls: newCalls([call, call, call], options),
    toolsByName,
    options,
    outlet,
    watcher
  })
  await clock.advance(0)
  a.runs[0]?.end(ok("first"))
  await clock.advance(0)
  let done = 0
  control?.({ type: "calls.cancel", toolCallId: "x", done: () => done++ })
  await clock.advance(99)
  expect(done).toBe(0)
  await clock.advance(1)
  expect(done).toBe(1)
  expect(output()).toMatchObject({
    halt: undefined,
    outcomes: [{ outcome: "completed" }, { outcome: "abandoned" }, { outcome: "abandoned" }]
  })
})

test("the process of a call takes the same by messages, as an observer sends them", async () => {
  const [a, b] = [held("a"), held("b")]
  const { chat, turn, clock } = await started(["a", "b"], { tools: [a.tool, b.tool] })
  const [first, second] = chat.getSnapshot()?.context.toolCalls ?? []
  if (first?.pid === undefined || second?.pid === undefined) throw new Error("both run")
  Process.send(first.pid, { type: "call.restart" })
  Process.send(second.pid, { type: "call.cancel" })
  await clock.advance(0)
  expect(statuses(chat)).toEqual([
    ["c0", "restarting"],
    ["c1", "cancelling"]
  ])
  await clock.advance(100)
  expect(statuses(chat)).toEqual([
    ["c0", "running"],
    ["c1", "abandoned"]
  ])
  a.runs[1]?.end(ok("again"))
  const { thread } = await turn.result()
  expect(thread.messages.at(2)).toMatchObject({ content: "again" })
  expect(JSON.parse(JSON.stringify(first))).toMatchObject({ pid: String(first.pid) })
})

test("calls of a reply that was cut off are seen as not started, and are never executed", async () => {
  const a = held("a")
  const cut = [{ toolCall: { id: "x", name: "a", arguments: {} } }, { finish: "length" as const }]
  const adapter = check.fake({ scripts: [cut] })
  const { troupe, clock } = await check.troupe({ adapter, tools: [a.tool] })
  const chat = await troupe.chat("c")
  const seen: Array<unknown> = []
  chat.subscribe(({ context }) => {
    const [call] = context.toolCalls
    if (call !== undefined) seen.push([call.id, call.status, call.outcome])
  })
  const turn = chat.send("go")
  await clock.advance(100)
  const result = await turn.result()
  expect(seen[0]).toEqual(["x", "done", "not_started"])
  expect(a.runs).toEqual([])
  expect(result.thread.messages.map(({ role }) => role)).toEqual(["user", "assistant"])
  expect(result.steps[0]?.truncatedToolCalls.map(({ id }) => id)).toEqual(["x"])
})

test("BATCH7 what is no id cancels and restarts nothing", async () => {
  const [a, b] = [held("a"), held("b")]
  const { chat, turn } = await started(["a", "b"], { tools: [a.tool, b.tool] })
  for (const id of [undefined, null, "", 5, {}, Symbol("c0")]) {
    const wrong = { _tag: "ValidationError", reason: "invalid_options", errors: [{ field: ["toolCallId"] }] }
    expect(await refusal(() => chat.cancelToolCall(id as never))).toMatchObject(wrong)
    expect(await refusal(() => chat.restartToolCall(id as never))).toMatchObject(wrong)
  }
  expect(statuses(chat)).toEqual([
    ["c0", "running"],
    ["c1", "running"]
  ])
  a.runs[0]?.end(ok(1))
  b.runs[0]?.end(ok(2))
  await turn.result()
  expect([a.runs.length, b.runs.length]).toEqual([1, 1])
})
