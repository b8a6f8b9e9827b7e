import { Observer, Process, System } from "@troupe/otp"
import { describe, expect, test } from "vitest"
import * as Fake from "../../src/adapter/Fake.ts"
import { memory } from "../../src/store/Store.ts"
import { Troupe } from "../../src/troupe/Troupe.ts"
import { until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { processesOf, processOf } from "../double/processes.ts"
import { calls, handling, says } from "../double/scripts.ts"

const check = leakCheck()

test("the supervision tree is as drawn, down to the tool call", async () => {
  const started = Promise.withResolvers<void>()
  const stuck = handling("t", () => {
    started.resolve()
    return new Promise(() => {})
  })
  const { troupe, system } = await check.troupe({
    adapter: check.fake({ script: calls("t") }),
    tools: [stuck],
    drainMs: 0
  })
  const chat = await troupe.chat("c1")
  chat.send("go")
  await started.promise
  const labels = (nodes: ReadonlyArray<Observer.Node>): ReadonlyArray<unknown> =>
    nodes.map(({ label, children }) => (children.length === 0 ? label : [label, ...labels(children)]))
  expect(labels(Observer.tree(system))).toEqual([
    ["Troupe", "Registry", "Store", ["ChatSupervisor", ["Chat c1", "ToolCall t"]]]
  ])
})

test("TROUPE1 at most one process lives for a chat id, however often it is asked for", async () => {
  const { troupe, system } = await check.troupe({ adapter: check.fake({ script: says("x") }) })
  const refs = await Promise.all(Array.from({ length: 50 }, () => troupe.chat("c")))
  expect(new Set(refs).size).toBe(1)
  expect(processesOf(system, "Chat c")).toHaveLength(1)
  Process.kill(processOf(system, "Chat c"))
  await Promise.all(Array.from({ length: 50 }, () => troupe.chat("c")))
  await until(() => processesOf(system, "Chat c").length > 0)
  expect(processesOf(system, "Chat c")).toHaveLength(1)
})

test("TROUPE2 a chat that crashes is started again from its last committed state", async () => {
  const store = memory()
  const { troupe, system } = await check.troupe({ adapter: check.fake({ script: says("x") }), store })
  const chat = await troupe.chat("c")
  await chat.send("one").result()
  const kept = await store.load("c")
  Process.exit(processOf(system, "Chat c"), new Error("bug"))
  await until(() => chat.pid !== undefined)
  expect(chat.thread).toEqual(kept?.thread)
})

test("TROUPE2 a chat that was stopped is not started again by itself, and comes back when asked for", async () => {
  const store = memory()
  const { troupe, system, clock } = await check.troupe({ adapter: check.fake({ script: says("x") }), store })
  const chat = await troupe.chat("c")
  await chat.send("one").result()
  await chat.stop()
  await clock.advance(10_000)
  expect(processesOf(system, "Chat c")).toEqual([])
  const again = await troupe.chat("c")
  expect(again).not.toBe(chat)
  expect(again.thread.messages).toHaveLength(2)
})

test("TROUPE3 `stop` ends everything, twice as well as once, and nothing is left", async () => {
  const adapter = Fake.make({ script: [{ text: "a" }, { hang: true }] })
  const troupe = await Troupe.start({ adapter })
  const chat = await troupe.chat("c")
  const turn = chat.send("go")
  await until(() => adapter.open === 1)
  let completed = 0
  chat.subscribe({ complete: () => completed++ })
  await Promise.all([troupe.stop(), troupe.stop()])
  await troupe.stop()
  await expect(turn.result()).rejects.toMatchObject({ reason: "chat_stopped" })
  expect(System.stats(troupe.system)).toEqual({ processes: 0, fibers: 0, timers: 0, closing: 0 })
  expect([adapter.open, adapter.released, completed]).toEqual([0, 1, 1])
  await expect(troupe.chat("c")).rejects.toMatchObject({ reason: "troupe_stopped" })
})

test.each<[string, (troupe: Troupe) => Promise<unknown>]>([
  ["has", (troupe) => troupe.has("c")],
  ["history", (troupe) => troupe.history("c")],
  ["at", (troupe) => troupe.at("c", 0)],
  ["list", (troupe) => troupe.list()],
  ["waiting", (troupe) => troupe.waiting()],
  ["begin", (troupe) => troupe.begin([])],
  ["fork", (troupe) => troupe.fork("c")],
  ["rewind", (troupe) => troupe.rewind("c", 0)],
  ["delete", (troupe) => troupe.delete("c")]
])("TROUPE3 after stop, %s is refused with troupe_stopped", async (_, ask) => {
  const troupe = await Troupe.start({ adapter: Fake.make({ script: [] }) })
  await troupe.stop()
  await expect(ask(troupe)).rejects.toMatchObject({ _tag: "SessionError", reason: "troupe_stopped" })
})

test("TROUPE3 a system that was given is left running", async () => {
  const { system } = check.system()
  const other = Process.spawn(system, () => new Promise(() => {}))
  const troupe = await Troupe.start({ adapter: Fake.make({ script: [] }), system })
  await troupe.stop()
  expect(Process.isAlive(other)).toBe(true)
  expect(System.stats(system).processes).toBe(1)
  Process.kill(other)
})

test("chats of two Troupes over one store share what is kept, and nothing else", async () => {
  const store = memory()
  const [one, two] = [
    await check.troupe({ adapter: check.fake({ script: says("x") }), store }),
    await check.troupe({ adapter: check.fake({ script: says("y") }), store })
  ]
  await (await one.troupe.chat("c")).send("hello").result()
  const revived = await two.troupe.chat("c")
  expect(revived.thread.messages.map(({ content }) => content)).toEqual(["hello", "x"])
})

describe("a chat that could not be loaded", () => {
  const failing = async () => {
    const kept = memory()
    const fails = new Set<string>()
    const load = (id: string) => {
      if (fails.has(id)) throw new Error("the disk is on fire")
      return kept.load(id)
    }
    const made = await check.troupe({ adapter: check.fake({ script: says("x") }), store: { ...kept, load } })
    return { ...made, fails }
  }

  test("is not there, and its id is free, however many asked for it", async () => {
    const { troupe, fails } = await failing()
    fails.add("c")
    const asked = await Promise.allSettled([troupe.chat("c"), troupe.chat("c"), troupe.has("c")])
    for (const one of asked) expect(one).toMatchObject({ status: "rejected", reason: { reason: "store_failed" } })
    await expect(troupe.has("c")).rejects.toMatchObject({ reason: "store_failed" })
    fails.clear()
    expect(await troupe.has("c")).toBe(false)
    await (await troupe.chat("a")).send("hello").result()
    const fork = await troupe.fork("a", { id: "c" })
    expect(fork.thread.messages).toHaveLength(2)
    expect(await troupe.has("c")).toBe(true)
  })

  test("is the same for all who ask for it again", async () => {
    const { troupe, fails } = await failing()
    fails.add("c")
    const again = troupe.chat("c").catch(() => {
      fails.clear()
      return troupe.chat("c")
    })
    const other = troupe.chat("c").catch(() => troupe.chat("c"))
    expect(await again).toBe(await other)
    expect(await troupe.chat("c")).toBe(await again)
    expect(await troupe.has("c")).toBe(true)
  })
})

test("a chat that has a process is there, though nothing was said in it", async () => {
  const { troupe } = await check.troupe({ adapter: check.fake({ script: says("x") }) })
  expect(await troupe.has("c")).toBe(false)
  await troupe.chat("c")
  expect(await troupe.has("c")).toBe(true)
})
