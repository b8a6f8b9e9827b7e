import { Effect } from "effect"
import { expect, test } from "vitest"
import { Chat, Engine, tool, Troupe } from "@troupe/chat"
import { ValidationError } from "@troupe/chat/errors"
import { Store } from "@troupe/chat/store"
import { runToolCalls } from "@troupe/chat/tools"
import type { Fault } from "../../src/faults/faultPlan.ts"
import { Injector } from "../../src/faults/faults.ts"
import * as Testing from "../../src/Testing.ts"
import { leakCheck } from "../../../chat/test/double/leakCheck.ts"
import { hi, said, says } from "../../../chat/test/double/scripts.ts"

const check = leakCheck()

const call = { id: "c", name: "t", arguments: {} }

/** One call of a tool with a fault, in 100 ms at most. */
const called = async (fault: Fault, execute: () => unknown = () => "done") => {
  const { system, clock } = check.system()
  const faults = Testing.faults({ system, plan: [{ on: "tool", fault }] })
  const t = faults.tool(tool({ name: "t", execute }))
  const { messages } = await clock.run(runToolCalls([call], [t], { system, toolTimeoutMs: 100, drainMs: 10 }))
  const at = clock.now()
  return { faults, clock, at, outcome: messages[0]?.outcome, content: said(messages[0]) }
}

test("FAULT1 a call without a fault goes through as it is", async () => {
  const faults = Testing.faults()
  const adapter = check.fake({ script: says("hi") })
  const stream = faults.adapter(adapter).stream({ messages: [], tools: [] }, {} as never)
  expect(typeof (stream as AsyncIterable<unknown>)[Symbol.asyncIterator]).toBe("function")
  await (stream as AsyncIterable<unknown>)[Symbol.asyncIterator]().return?.()
  const store = faults.store(Store.memory())
  expect(store.load("a")).toBeUndefined()
  expect([faults.log, faults.held]).toEqual([[], 0])
})

test("a tool that crashes fails; one whose process dies fails too, and its siblings go on", async () => {
  const crashed = await called({ type: "crash", error: new Error("boom") })
  expect([crashed.outcome, crashed.content.includes("boom")]).toEqual(["failed", true])
  const died = await called({ type: "crash", dies: true })
  expect([died.outcome, died.content.includes("killed")]).toEqual(["failed", true])
  died.faults.release()
})

test("FAULT3 a tool that hangs is timed out; deaf, it is held until all is let go", async () => {
  const deaf = await called({ type: "hang" })
  expect([deaf.outcome, deaf.at, deaf.faults.held]).toEqual(["timed_out", 100, 1])
  deaf.faults.release()
  expect(deaf.faults.held).toBe(0)
  const aware = await called({ type: "hang", aware: true })
  expect([aware.outcome, aware.faults.held]).toEqual(["timed_out", 0])
})

test("a slow tool says the same later, a late one when nobody waits", async () => {
  let ended = 0
  const slow = await called({ type: "slow", ms: 40 })
  expect([slow.outcome, slow.at]).toEqual(["completed", 40])
  const late = await called({ type: "late", ms: 5 }, () => (ended += 1))
  expect([late.outcome, late.at, ended]).toEqual(["timed_out", 100, 1])
  await late.clock.advance(5)
})

test("a duplicate runs a tool twice, an effect too", async () => {
  let runs = 0
  const twice = await called({ type: "duplicate" }, () => Effect.sync(() => (runs += 1)))
  expect([twice.outcome, twice.content, runs]).toEqual(["completed", "2", 2])
})

test("FAULT3 an effect with a fault around it is interrupted when it is cancelled", async () => {
  let interrupted = 0
  const endless = () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => (interrupted += 1)))
  const slow = await called({ type: "slow", ms: 1 }, endless)
  expect([slow.outcome, slow.at]).toEqual(["timed_out", 100])
  await slow.clock.advance(1)
  expect(interrupted).toBe(1)
})

/** What an adapter with this fault says, in tags, and the time it took. */
const answered = async (fault: Fault) => {
  const { system, clock } = check.system()
  const faults = Testing.faults({ system, plan: [{ on: "adapter", name: "fake", fault }] })
  const adapter = check.fake({ clock, script: [{ text: "a" }, { text: "b" }, { finish: "stop" }] })
  const engine = Engine.make({ adapter: faults.adapter(adapter), retry: false })
  const options = { system, budget: { timeMs: 100 }, drainMs: 10 }
  const result = await clock.run(Chat.run(engine, hi, options))
  faults.release()
  await clock.advance(10)
  return {
    at: clock.now() - 10,
    halted: result.haltedReason,
    text: result.finalResponse?.outputText,
    error: result.metadata["error"]
  }
}

test("an adapter's fault comes after so many events", async () => {
  expect(await answered({ type: "slow", ms: 7, after: 2 })).toMatchObject({ at: 7, halted: "completed", text: "ab" })
  expect(await answered({ type: "duplicate", after: 1 })).toMatchObject({ at: 0, halted: "completed" })
  expect(await answered({ type: "crash", after: 2 })).toMatchObject({ at: 0, halted: "error", text: "a" })
  expect(await answered({ type: "crash", dies: true, after: 2 })).toMatchObject({ at: 0, halted: "error", text: "a" })
  expect(await answered({ type: "hang", aware: true, after: 2 })).toMatchObject({
    at: 100,
    halted: "budget_time",
    text: "a"
  })
  expect(await answered({ type: "hang", after: 2 })).toMatchObject({ halted: "budget_time", text: "a" })
  expect(await answered({ type: "late", after: 2 })).toMatchObject({ halted: "budget_time", text: "a" })
})

test("an adapter's fault as it is opened", async () => {
  expect(await answered({ type: "slow", ms: 7 })).toMatchObject({ at: 7, halted: "completed", text: "ab" })
  await expect(answered({ type: "crash" })).rejects.toThrow("an injected crash")
  expect(await answered({ type: "hang" })).toMatchObject({ halted: "budget_time" })
  expect(await answered({ type: "late" })).toMatchObject({ halted: "budget_time" })
})

test("a store that fails, is slow or saves twice, as planned by name and number", async () => {
  const { system, clock } = check.system()
  const faults = Testing.faults({
    system,
    plan: [
      { on: "store", name: "save", call: 1, fault: { type: "slow", ms: 30 } },
      { on: "store", name: "save", call: 2, fault: { type: "duplicate" } },
      { on: "store", name: "save", call: 3, fault: { type: "crash" } }
    ]
  })
  const saves: Array<boolean> = []
  const kept = new Map<string, Parameters<Store.RecordStore["save"]>[0]>()
  const store = faults.store<Store.Store>({
    load: (id) => kept.get(id),
    save: (record) => void (saves.push(record.running), kept.set(record.id, record)),
    delete: (id) => void kept.delete(id)
  })
  const troupe = await Troupe.start({ system, store, adapter: check.fake({ script: says("hi") }) })
  const chat = await troupe.chat("a")
  expect((await clock.run(chat.send("1").result())).haltedReason).toBe("completed")
  expect([clock.now(), saves.length]).toEqual([30, 3])
  expect((await clock.run(chat.send("2").result())).haltedReason).toBe("error")
  await troupe.stop()
  expect(faults.log.map(({ at, name, call: nth, fault }) => `${at} ${name} ${nth} ${fault.type}`)).toEqual([
    "0 save 1 slow",
    "30 save 2 duplicate",
    "30 save 3 crash"
  ])
})

test("FPLAN1 a drawn fault depends on the seed and the call's place alone", () => {
  const drawn = (seed: number, names: ReadonlyArray<string>) => {
    const faults = new Injector({
      seed,
      rates: { tool: { crash: 0.2, hang: 0.2, slow: 0.2, late: 0.2, duplicate: 0.1 } }
    })
    for (const name of names) faults.next("tool", name)
    return faults.log
      .filter(({ name }) => name === "a")
      .map(({ call: nth, fault }) => `${nth} ${JSON.stringify(fault)}`)
  }
  const many = (name: string) => Array.from({ length: 200 }, () => name)
  expect(drawn(1, many("a"))).toEqual(
    drawn(
      1,
      many("a").flatMap((name) => [name, "b"])
    )
  )
  expect(drawn(1, many("a"))).not.toEqual(drawn(2, many("a")))
  const share = drawn(1, many("a")).length / 200
  expect(share > 0.8 && share < 0.98).toBe(true)
})

test("FPLAN2 a planned fault wins over a drawn one", () => {
  const faults = new Injector({
    plan: [{ on: "tool", name: "a", call: 2, fault: { type: "slow", ms: 3 } }],
    rates: { tool: { crash: 1 } }
  })
  expect([faults.next("tool", "a")?.type, faults.next("tool", "a")?.type]).toEqual(["crash", "slow"])
})

test.each<[string, unknown, string]>([
  ["options that are none", null, "must_be_an_object of options"],
  ["an unknown option", { rate: {} }, "rate: unknown; did you mean rates?"],
  ["a system that is none", { system: {} }, "system: must_be a system"],
  ["a seed that is no whole number", { seed: 0.5 }, "seed: must_be a whole number"],
  ["a plan that is no list", { plan: {} }, "plan: must_be_a_list"],
  ["an entry that is no object", { plan: [1] }, "plan.0: must_be_an_object { on, name, call, fault }"],
  [
    "an unknown target of a plan",
    { plan: [{ on: "tools", fault: { type: "crash" } }] },
    "plan.0.on: must_be_one_of adapter, tool, store"
  ],
  [
    "a plan without a target",
    { plan: [{ fault: { type: "crash" } }] },
    "plan.0.on: must_be_one_of adapter, tool, store"
  ],
  [
    "a call before the first",
    { plan: [{ on: "tool", call: 0, fault: { type: "crash" } }] },
    "plan.0.call: must_be the number of a call; the first is 1"
  ],
  ["a plan without a fault", { plan: [{ on: "tool" }] }, "plan.0.fault: must_be_an_object with a type"],
  [
    "an unknown fault",
    { plan: [{ on: "tool", fault: { type: "melt" } }] },
    "plan.0.fault.type: must_be_one_of crash, hang, slow, late, duplicate"
  ],
  [
    "a slow fault without ms",
    { plan: [{ on: "tool", fault: { type: "slow" } }] },
    "plan.0.fault.ms: must_be_milliseconds"
  ],
  [
    "a slow fault that never ends",
    { plan: [{ on: "tool", fault: { type: "slow", ms: Number.NaN } }] },
    "plan.0.fault.ms: must_be_milliseconds"
  ],
  [
    "an unknown part of a fault",
    { plan: [{ on: "tool", fault: { type: "hang", awara: true } }] },
    "plan.0.fault.awara: unknown; did you mean aware?"
  ],
  [
    "a place in what is no stream",
    { plan: [{ on: "tool", fault: { type: "crash", after: 1 } }] },
    "plan.0.fault.after: is a place in a stream"
  ],
  ["rates of an unknown target", { rates: { tools: { crash: 0.1 } } }, "rates.tools: unknown; did you mean tool?"],
  ["rates without a target", { rates: { crash: 0.1 } }, "rates.crash: unknown; use adapter, tool, store"],
  [
    "a rate that is no object",
    { rates: { tool: 0.1 } },
    "rates.tool: must_be_an_object of crash, hang, slow, late, duplicate"
  ],
  [
    "a rate of an unknown fault",
    { rates: { tool: { crashes: 0.1 } } },
    "rates.tool.crashes: unknown; did you mean crash?"
  ],
  ["a rate below 0", { rates: { tool: { crash: -1 } } }, "rates.tool.crash: must_be a probability, from 0 to 1"],
  ["a rate above 1", { rates: { tool: { crash: 2 } } }, "rates.tool.crash: must_be a probability, from 0 to 1"],
  ["a rate in words", { rates: { tool: { crash: "0.1" } } }, "rates.tool.crash: must_be a probability, from 0 to 1"],
  ["rates above 1 together", { rates: { tool: { crash: 0.6, hang: 0.6 } } }, "rates.tool: must_be together at most 1"]
])("%s: refused, with the possible values", (_, options, text) => {
  const thrown = (): unknown => Testing.faults(options as Parameters<typeof Testing.faults>[0])
  expect(thrown).toThrow(ValidationError)
  expect(thrown).toThrow(text)
})

test("rates that are 1 together but for rounding are taken", () => {
  expect(Testing.faults({ rates: { store: { crash: 0.7, hang: 0.1, slow: 0.1, late: 0.1 }, tool: {} } }).held).toBe(0)
})
