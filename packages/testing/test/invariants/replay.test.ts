import { Clock, System } from "@troupe/otp"
import { expect, test } from "vitest"
import { Chat, Engine, Fake, tool, Troupe, user } from "@troupe/chat"
import { Store } from "@troupe/chat/store"
import { ReplayMismatch } from "../../src/replay/index.ts"
import * as Testing from "../../src/Testing.ts"
import { calls, says } from "../../../chat/test/double/scripts.ts"

const stage = () => {
  const clock = Clock.test()
  return { clock, system: System.make({ clock, seed: 1 }) }
}

type Stage = ReturnType<typeof stage>

/** One question; whoever writes it down is given what stands behind adapter and tool. */
const ask = async ({ clock, system }: Stage, trace: Testing.Trace, question: string, called = { times: 0 }) => {
  const adapter = Fake.make({ clock, scripts: [calls("now"), [{ delayMs: 5 }, ...says("noon")]] })
  const now = tool({
    name: "now",
    execute: () => new Promise((done) => clock.setTimeout(() => done((called.times += 1)), 10))
  })
  const engine = Engine.make({ adapter: trace.adapter(adapter), tools: [trace.tool(now)] })
  const running = Chat.stream(engine, [user(question)], { system })
  await clock.run(running.then((events) => trace.read("chat", events)))
  return { adapter, called }
}

const recorded = async () => {
  const on = stage()
  const trace = Testing.trace({ system: on.system })
  await ask(on, trace, "time?")
  return trace
}

test("REC1 a line for each thing, with the time on the system's clock, keys in order", async () => {
  const { lines, text } = await recorded()
  const parsed = lines.map(
    (line) => JSON.parse(line) as { readonly at: number; readonly type: string; readonly of?: string }
  )
  expect(
    parsed.map(({ at, of, type }) => `${at} ${of ?? ""} ${type}`).filter((line) => !line.endsWith(" event"))
  ).toEqual([
    "0 adapter asked",
    ...Array.from({ length: 4 }, () => "0 adapter said"),
    "0 adapter over",
    "0 tool asked",
    "10 tool settled",
    "10 adapter asked",
    "10 adapter said",
    "15 adapter said",
    "15 adapter said",
    "15 adapter said",
    "15 adapter over",
    "15  end"
  ])
  for (const line of lines)
    expect(Object.keys(JSON.parse(line) as object)).toEqual(Object.keys(JSON.parse(line) as object).toSorted())
  expect(text).toBe(`${lines.join("\n")}\n`)
})

test("REPLAY1 adapters and tools are not asked: the trace answers, at the recorded times", async () => {
  const { text } = await recorded()
  const on = stage()
  const replay = Testing.replay(text, { system: on.system })
  const { adapter, called } = await ask(on, replay, "time?")
  replay.check()
  expect([replay.text, adapter.requests.length, called.times, on.clock.now()]).toEqual([text, 0, 0, 15])
})

test("REPLAY1 what a tool drew from the seed moves no id and no retry of a later turn", async () => {
  const run = async ({ clock, system }: Stage, trace: Testing.Trace) => {
    const scripts: ReadonlyArray<Fake.Script> = [
      calls("dice"),
      says("one"),
      [{ preflightError: "timeout" }],
      says("two")
    ]
    const adapter = trace.adapter(Fake.make({ clock, scripts }))
    const dice = tool({ name: "dice", execute: () => `${System.random(system)} ${System.uuid(system)}` })
    const troupe = await Troupe.start({
      system,
      adapter,
      tools: [trace.tool(dice)],
      store: trace.store(Store.memory())
    })
    const chat = await troupe.chat("a")
    await clock.run(trace.read("first", chat.send("Roll")))
    await clock.run(trace.read("second", chat.send("And again")))
    await troupe.stop()
  }
  const [first, second] = [stage(), stage()]
  const trace = Testing.trace(first)
  await run(first, trace)
  const replay = Testing.replay(trace.text, second)
  await run(second, replay)
  replay.check()
  expect(replay.text).toBe(trace.text)
})

test("REPLAY2 a run that asks otherwise fails with both lines", async () => {
  const { lines } = await recorded()
  const on = stage()
  const replay = Testing.replay(lines, { system: on.system })
  await ask(on, replay, "day?")
  expect(replay.mismatch).toMatchObject({ line: 1, recorded: lines[0], now: replay.lines[0] })
  expect(() => replay.check()).toThrow("differs from the trace in line 1")
  expect(() => replay.check()).toThrow(ReplayMismatch)
})

test("REPLAY2 a run that ends before the trace fails its check", async () => {
  const { lines } = await recorded()
  const replay = Testing.replay(lines)
  expect(() => replay.check()).toThrow("(nothing more)")
})

test("a trace of a living chat has its saves and its phases, and notes of the test", async () => {
  const { clock, system } = stage()
  const trace = Testing.trace({ system })
  const troupe = await Troupe.start({
    system,
    adapter: trace.adapter(Fake.make({ script: says("hi") })),
    store: trace.store(Store.memory())
  })
  const chat = await troupe.chat("a")
  const watching = trace.chat(chat)
  trace.note("begun", { by: undefined })
  await clock.run(trace.read("turn", chat.send("hello")))
  watching.unsubscribe()
  await troupe.stop()
  await System.stop(system)
  const lines = trace.lines.map((line) => JSON.parse(line) as Readonly<Record<string, string | undefined>>)
  expect(lines.filter(({ type }) => type === "asked").map(({ name }) => name)).toEqual([
    "load",
    "append",
    "fake",
    "append"
  ])
  expect(lines.flatMap(({ phase }) => phase ?? [])).toEqual([
    "committing",
    "streaming",
    "committing",
    "completing",
    "idle"
  ])
  expect(lines.find(({ type }) => type === "note")).toMatchObject({ what: "begun", detail: {} })
})

test("what an adapter throws, and a stream that breaks, are written down and thrown again when replayed", async () => {
  const run = async ({ clock, system }: Stage, trace: Testing.Trace) => {
    const scripts: ReadonlyArray<Fake.Script> = [
      [{ preflightError: "rate_limited" }],
      [{ text: "a" }, { crash: new Error("broken") }]
    ]
    const adapter = trace.adapter(Fake.make({ clock, scripts }))
    const running = Chat.stream(Engine.make({ adapter, retry: { jitterMs: 100 } }), [user("x")], { system })
    await clock.run(running.then((events) => trace.read("chat", events)))
    return trace
  }
  const first = stage()
  const { text } = await run(first, Testing.trace({ system: first.system }))
  expect(text).toContain('"type":"refused"')
  expect(text).toContain('"type":"broke"')
  const second = stage()
  const replay = Testing.replay(text, { system: second.system })
  await run(second, replay)
  expect(replay.text).toBe(text)
})
