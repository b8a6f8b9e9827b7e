import { Process, System } from "@troupe/otp"
import { expect, test } from "vitest"
import * as Chat from "../../src/loop/Chat.ts"
import * as Session from "../../src/session/Session.ts"
import * as Engine from "../../src/options/Engine.ts"
import { defaultSystem } from "../../src/async/defaultSystem.ts"
import { handAdapter } from "../double/handAdapter.ts"
import { hop, until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { processesOf, processOf } from "../double/processes.ts"
import { callThenAnswer, echo, hi, readAll, says, tagsOf } from "../double/scripts.ts"

const check = leakCheck()

test("STREAM-R1 leaving ends the process, and what it held is released by then", async () => {
  const adapter = handAdapter()
  {
    await using stream = await Chat.stream(Engine.make({ adapter }), hi)
    void stream.next()
    expect(processesOf(defaultSystem(), "Chat")).toHaveLength(1)
  }
  expect(processesOf(defaultSystem(), "Chat")).toEqual([])
  expect(adapter.streams[0]?.returns).toBe(1)
})

test("STREAM-R2 a process that is killed is a rejection of the next question, once", async () => {
  for (const waiting of [true, false]) {
    const adapter = handAdapter()
    const stream = await Chat.stream(Engine.make({ adapter }), hi)
    const first = stream.next()
    adapter.streams[0]?.text("a")
    await first
    const early = waiting ? stream.next() : undefined
    const caught = early?.catch((error: unknown) => error)
    Process.kill(processOf(defaultSystem(), "Chat"))
    const error = await (caught ?? stream.next().catch((thrown: unknown) => thrown))
    expect(error).toMatchObject({ _tag: "ProcessExit", reason: "killed" })
    expect(await stream.next()).toEqual({ done: true, value: undefined })
  }
})

test("STREAM-R2 a chat and a step that ended have their result", async () => {
  const engine = () => Engine.make({ adapter: check.fake({ scripts: callThenAnswer }), tools: [echo] })
  const step = await Chat.streamStep(engine(), hi)
  expect(step.output()).toBeUndefined()
  await readAll(step)
  expect(step.output()).toMatchObject({ type: "stepped" })
  const chat = await Chat.stream(engine(), hi)
  await readAll(chat)
  expect(chat.output()).toMatchObject({ type: "completed", result: { haltedReason: "completed" } })
})

test("STREAM-R3 no listener stays on the caller's signal: read, left, refused, killed, aborted", async () => {
  const spied = check.signal()
  const { signal } = spied
  const engine = () => Engine.make({ adapter: check.fake({ script: says("x") }) })
  await readAll(await Chat.stream(engine(), hi, { signal }))
  for await (const _ of await Chat.stream(engine(), hi, { signal })) break
  const refusing = Engine.make({ adapter: check.fake({ script: [{ preflightError: "authentication_failed" }] }) })
  await expect((await Chat.stream(refusing, hi, { signal })).next()).rejects.toThrow()
  const killed = await Chat.stream(engine(), hi, { signal })
  await killed.next()
  Process.kill(processOf(defaultSystem(), "Chat"))
  await expect(killed.next()).rejects.toThrow()
  expect(spied.listeners).toBe(0)
  const aborted = await Chat.stream(engine(), hi, { signal })
  expect(spied.listeners).toBe(0)
  await aborted.next()
  expect(spied.listeners).toBe(1)
  spied.abort()
  await readAll(aborted)
  expect(spied.listeners).toBe(0)
})

test("STREAM-R4 aborted, the process ends although nobody reads on; who does reads all it said", async () => {
  const spied = check.signal()
  const adapter = handAdapter()
  const stream = await Chat.stream(Engine.make({ adapter }), hi, { signal: spied.signal })
  const [next, late] = [stream.next(), stream.next()]
  adapter.streams[0]?.text("a")
  expect(await next).toMatchObject({ value: { delta: "a" } })
  spied.abort()
  await until(() => processesOf(defaultSystem(), "Chat").length === 0)
  expect([adapter.streams[0]?.returns, adapter.streams[0]?.options.signal.aborted, spied.listeners]).toEqual([
    1,
    true,
    0
  ])
  expect(await late).toMatchObject({ value: { type: "step_completed", halt: { type: "cancelled" } } })
  expect(tagsOf(await readAll(stream))).toEqual(["chat_completed"])
  expect(stream.output()).toMatchObject({ result: { haltedReason: "cancelled" } })
})

const streams = {
  stream: Chat.stream,
  streamStep: Chat.streamStep,
  streamGenerate: Chat.streamGenerate,
  "Session.streamStart": Session.streamStart
}

test.each(Object.entries(streams))(
  "STREAM-R5 %s opens its request with the first event that is read",
  async (_, open) => {
    const spied = check.signal()
    const adapter = check.fake({ script: says("x") })
    const invalid = open(Engine.make({ adapter }), hi, { maxConcurrency: -1 })
    await expect(invalid).rejects.toMatchObject({ reason: "invalid_options" })
    const events = await open(Engine.make({ adapter }), hi, { signal: spied.signal })
    await hop()
    expect([adapter.requests.length, spied.listeners, [...System.processes(defaultSystem())].length]).toEqual([0, 0, 0])
    await events.next()
    expect(adapter.requests).toHaveLength(1)
    await events.return()
  }
)

test("STREAM-R5 a step whose signal was aborted before the first event is refused, and has ended", async () => {
  const spied = check.signal()
  const adapter = check.fake({ script: says("x") })
  const step = await Chat.streamStep(Engine.make({ adapter }), hi, { signal: spied.signal })
  spied.abort()
  await expect(step.next()).rejects.toMatchObject({ name: "AbortError" })
  expect([await step.next(), adapter.requests.length]).toEqual([{ done: true, value: undefined }, 0])
})
