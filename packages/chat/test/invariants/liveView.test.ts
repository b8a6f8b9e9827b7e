import { expect, test } from "vitest"
import type { Adapter } from "../../src/adapter/Adapter.ts"
import type { ChatPhase, ChatSnapshot } from "../../src/view/liveView.ts"
import { ok } from "../../src/values/HandlerResult.ts"
import { handling, says } from "../double/scripts.ts"
import { until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { processOf } from "../double/processes.ts"
import { handAdapter } from "../double/handAdapter.ts"
import { calls } from "../double/scripts.ts"
import { LiveState } from "../../src/view/liveState.ts"
import { LiveView } from "../../src/view/liveView.ts"

const check = leakCheck()

test("VIEW1 a snapshot is the same object until something changed", async () => {
  const adapter = handAdapter()
  const { troupe, clock } = await check.troupe({ adapter })
  const chat = await troupe.chat("c")
  expect(chat.getSnapshot()).toBe(chat.getSnapshot())
  const turn = chat.send("go")
  await until(() => adapter.streams.length === 1)
  adapter.streams[0]?.text("a")
  await clock.advance(0)
  const before = chat.getSnapshot()
  expect(before?.context.partial.text).toBe("a")
  expect(chat.getSnapshot()).toBe(before)
  adapter.streams[0]?.text("b")
  await clock.advance(0)
  expect(chat.getSnapshot()).not.toBe(before)
  expect(before?.context.partial.text).toBe("a")
  adapter.streams[0]?.finish("stop")
  await turn.result()
  expect(chat.getSnapshot()?.context.partial.text).toBe("")
})

test("VIEW1 the reasoning of the running reply is shown until the reply is in the thread", async () => {
  const adapter = handAdapter()
  const { troupe, clock } = await check.troupe({ adapter })
  const chat = await troupe.chat("c")
  const turn = chat.send("go")
  await until(() => adapter.streams.length === 1)
  const partial = () => chat.getSnapshot()?.context.partial
  expect(partial()).toEqual({ text: "" })
  for (const [id, delta] of [
    ["0", "so "],
    ["0", "then"],
    ["1", "so"]
  ] as const) {
    adapter.streams[0]?.say({ type: "reasoning_delta", id, delta })
  }
  await clock.advance(0)
  expect(partial()).toEqual({ text: "", reasoning: "so then\n\nso" })
  adapter.streams[0]?.text("a")
  await clock.advance(0)
  expect(partial()).toEqual({ text: "a", reasoning: "so then\n\nso" })
  adapter.streams[0]?.finish("stop")
  await turn.result()
  expect(partial()).toEqual({ text: "" })
})

test("VIEW1 streamed text is notified at most once in an interval", async () => {
  const adapter = handAdapter()
  const { troupe, clock } = await check.troupe({ adapter })
  const chat = await troupe.chat("c")
  const turn = chat.send("go")
  await until(() => adapter.streams.length === 1)
  const seen: Array<ChatSnapshot> = []
  const { unsubscribe } = chat.subscribe((snapshot) => seen.push(snapshot))
  for (let index = 0; index < 1_000; index++) adapter.streams[0]?.text("x")
  await until(() => chat.getSnapshot()?.context.partial.text.length === 1_000)
  expect(seen).toHaveLength(0)
  await clock.advance(100)
  expect(seen.map(({ context }) => context.partial.text.length)).toEqual([1_000])
  adapter.streams[0]?.finish("stop")
  await turn.result()
  unsubscribe()
})

test("VIEW2 without observers there is no timer", async () => {
  const { system, clock } = check.system()
  const view = new LiveView(system, new LiveState())
  view.changed()
  expect(clock.pending).toBe(0)
  const first = view.subscribe({})
  const second = view.subscribe({})
  view.changed()
  view.changed()
  expect(clock.pending).toBe(1)
  first.unsubscribe()
  expect(clock.pending).toBe(1)
  second.unsubscribe()
  second.unsubscribe()
  expect(clock.pending).toBe(0)
})

test("VIEW2 completing leaves no timer, and notifies each observer once", () => {
  const { system, clock } = check.system()
  const view = new LiveView(system, new LiveState())
  let completed = 0
  view.subscribe({ complete: () => completed++ })
  view.subscribe({
    complete: () => {
      completed++
      throw new Error("mine")
    }
  })
  view.changed()
  view.complete()
  view.complete()
  expect([completed, clock.pending]).toEqual([2, 0])
})

test.each(["chat", "troupe"] as const)(
  "VIEW4 when the %s is stopped in a turn, the last snapshot is at rest",
  async (what) => {
    const adapter = handAdapter()
    const { troupe } = await check.troupe({ adapter })
    const chat = await troupe.chat("c")
    const seen: Array<ChatSnapshot> = []
    let completed = 0
    chat.subscribe({ next: (snapshot) => seen.push(snapshot), complete: () => completed++ })
    const turn = chat.send("go")
    await until(() => adapter.streams.length === 1)
    adapter.streams[0]?.text("a")
    await Promise.all([(what === "chat" ? chat : troupe).stop(), turn.result().catch(() => undefined)])
    const last = chat.getSnapshot()
    expect(seen.at(-1)).toBe(last)
    expect([last?.value, last?.status, last?.context.phase, last?.context.turn]).toEqual([
      "ended",
      "stopped",
      "idle",
      undefined
    ])
    expect([last?.context.partial.text, last?.matches("running"), completed]).toEqual(["", false, 1])
  }
)

test("VIEW4 a chat that is stopped at rest has no further snapshot", async () => {
  const { troupe } = await check.troupe({ adapter: check.fake({ script: says("x") }) })
  const chat = await troupe.chat("c")
  await chat.send("go").result()
  const before = chat.getSnapshot()
  const seen: Array<ChatSnapshot> = []
  chat.subscribe((snapshot) => seen.push(snapshot))
  await chat.stop()
  expect([chat.getSnapshot() === before, before?.value, seen]).toEqual([true, "idle", []])
})

test("VIEW3 an observer that throws stops nobody", async () => {
  const { troupe, clock } = await check.troupe({ adapter: check.fake({ script: says("x") }) })
  const chat = await troupe.chat("c")
  const values: Array<unknown> = []
  chat.subscribe(() => {
    throw new Error("mine")
  })
  chat.subscribe({ next: ({ value }) => values.push(value) })
  await chat.send("go").result()
  await clock.advance(100)
  expect(values.at(-1)).toBe("idle")
})

test("the calls of the running step are seen, and gone when the turn is over", async () => {
  const gate = Promise.withResolvers<ReturnType<typeof handling>>()
  const tool = handling("t", async () => {
    await gate.promise
    throw new Error("done")
  })
  const { troupe, system } = await check.troupe({
    adapter: check.fake({ scripts: [calls("t"), says("x")] }),
    tools: [tool]
  })
  const chat = await troupe.chat("c")
  const turn = chat.send("go")
  await until(() => chat.getSnapshot()?.context.toolCalls[0]?.status === "running")
  expect(chat.getSnapshot()?.context.toolCalls).toEqual([
    {
      id: "c0",
      name: "t",
      status: "running",
      queuedAt: 0,
      startedAt: 0,
      endedAt: undefined,
      outcome: undefined,
      progress: undefined,
      pid: processOf(system, "ToolCall t")
    }
  ])
  gate.resolve(tool)
  await turn.result()
  expect(chat.getSnapshot()?.context.toolCalls).toEqual([])
})

test("the phase is said in one word, from the beginning of a turn to its end", async () => {
  const opening = Promise.withResolvers<void>()
  const adapter = handAdapter()
  const slow: Adapter = {
    name: "slow",
    stream: async (...args) => {
      await opening.promise
      return adapter.stream(...args)
    }
  }
  const gate = Promise.withResolvers<void>()
  const tools = [handling("t", () => gate.promise.then(() => ok(1)))]
  const { troupe, clock } = await check.troupe({ adapter: slow, tools })
  const chat = await troupe.chat("c")
  const phases: Array<ChatPhase> = []
  const seen = ({ context: { phase } }: ChatSnapshot): void => void (phases.at(-1) === phase || phases.push(phase))
  chat.subscribe(seen)
  const turn = chat.send("go")
  const phase = () => chat.getSnapshot()?.context.phase
  await until(() => phase() === "requesting")
  opening.resolve()
  await until(() => phase() === "streaming")
  adapter.streams[0]?.say({ type: "tool_call_completed", id: "c0", name: "t", arguments: {}, rawArguments: "{}" })
  await clock.advance(50)
  adapter.streams[0]?.finish("tool_calls")
  await until(() => phase() === "runningTools")
  await clock.advance(50)
  gate.resolve()
  await until(() => adapter.streams.length === 2)
  adapter.streams[1]?.text("done")
  await clock.advance(50)
  adapter.streams[1]?.finish("stop")
  await turn.result()
  await clock.advance(50)
  expect(phases).toEqual([
    "committing",
    "requesting",
    "streaming",
    "runningTools",
    "committing",
    "requesting",
    "streaming",
    "committing",
    "completing",
    "idle"
  ])
})

test("usage is that of the running request too, and is counted once", async () => {
  const adapter = handAdapter()
  const { troupe } = await check.troupe({ adapter })
  const chat = await troupe.chat("c")
  const usage = () => chat.getSnapshot()?.context.usage
  for (let turns = 0; turns < 2; turns++) {
    const turn = chat.send("go")
    await until(() => adapter.streams.length === turns + 1)
    expect(usage()).toEqual(turns === 0 ? {} : { inputTokens: 3, outputTokens: 2 })
    adapter.streams[turns]?.say({
      type: "raw_chunk",
      chunk: { type: "usage", usage: { inputTokens: 3, outputTokens: 2 } }
    })
    adapter.streams[turns]?.text("a")
    await until(() => chat.getSnapshot()?.context.partial.text === "a")
    expect(usage()).toEqual({ inputTokens: 3 * (turns + 1), outputTokens: 2 * (turns + 1) })
    adapter.streams[turns]?.finish("stop")
    await turn.result()
    expect(usage()).toEqual({ inputTokens: 3 * (turns + 1), outputTokens: 2 * (turns + 1) })
  }
})

test("a call's times are those of the system's clock", async () => {
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let called = 0
  const tool = handling("t", () => gates[called++]?.promise.then(() => ok(1)) ?? ok(0))
  const adapter = check.fake({ scripts: [calls("t", "t"), says("x")] })
  const { troupe, clock } = await check.troupe({ adapter, tools: [tool], maxConcurrency: 1 })
  const chat = await troupe.chat("c")
  await clock.advance(5)
  const turn = chat.send("go")
  const views = () => chat.getSnapshot()?.context.toolCalls
  await until(() => views()?.[0]?.status === "running")
  expect(views()?.[1]).toMatchObject({ status: "queued", queuedAt: 5, startedAt: undefined })
  await clock.advance(100)
  gates[0]?.resolve()
  await until(() => views()?.[1]?.status === "running")
  expect(views()).toMatchObject([
    { status: "done", queuedAt: 5, startedAt: 5, endedAt: 105 },
    { status: "running", queuedAt: 5, startedAt: 105, endedAt: undefined }
  ])
  gates[1]?.resolve()
  await turn.result()
})

test("VIEW6 a snapshot shows what the chart holds as the values themselves, and the running turn with its options", async () => {
  const adapter = check.fake({ scripts: [calls("t"), says("x"), [{ hang: true }]] })
  const { troupe } = await check.troupe({ adapter, tools: [handling("t", () => ok(1))] })
  const chat = await troupe.chat("c")
  const result = await chat.send("go").result()
  const rested = chat.getSnapshot()?.context
  expect(rested?.result).toBe(result)
  expect(rested?.steps).toEqual(result.steps)
  expect(rested?.steps[1]).toBe(result.steps[1])
  expect([rested?.refusal, rested?.failure, rested?.firstPass, rested?.turn]).toEqual([
    undefined,
    undefined,
    undefined,
    undefined
  ])
  expect(rested?.engine.adapter).toBe(adapter)
  const turn = chat.send("again")
  await until(() => adapter.open === 1)
  expect(chat.getSnapshot()?.context.turn).toBe(turn.turn)
  await chat.cancel()
})
