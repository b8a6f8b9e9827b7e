import { Clock } from "@troupe/otp"
import { expect, test } from "vitest"
import type { ChatSnapshot } from "../../src/ChatRef.ts"
import { handling, says } from "../double/scripts.ts"
import { until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { handAdapter } from "../double/handAdapter.ts"
import { calls } from "../double/scripts.ts"
import { LiveView } from "../../src/internal/liveView.ts"

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

test("VIEW1 text that streams is told at most once in an interval", async () => {
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
  const clock = Clock.test()
  const view = new LiveView(clock)
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

test("VIEW2 completing leaves no timer, and tells each observer once", () => {
  const clock = Clock.test()
  const view = new LiveView(clock)
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
  const { troupe } = await check.troupe({ adapter: check.fake({ scripts: [calls("t"), says("x")] }), tools: [tool] })
  const chat = await troupe.chat("c")
  const turn = chat.send("go")
  await until(() => chat.getSnapshot()?.context.toolCalls[0]?.status === "running")
  expect(chat.getSnapshot()?.context.toolCalls).toEqual([{ id: "c0", name: "t", status: "running", startedAt: 0 }])
  gate.resolve(tool)
  await turn.result()
  expect(chat.getSnapshot()?.context.toolCalls).toEqual([])
})
