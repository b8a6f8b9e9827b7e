import { afterEach, beforeEach, expect, test } from "vitest"
import { GenServer, Process, Registry, System } from "../src/index.ts"
import type { Pid } from "../src/index.ts"
import { bank } from "./double/bank.ts"
import { sleeper } from "./double/inProcess.ts"

let system: System.System
let registry: Pid

beforeEach(async () => {
  system = System.make()
  registry = await Registry.start(system)
})

afterEach(async () => {
  await System.stop(system)
  expect(System.stats(system)).toEqual({ processes: 0, fibers: 0, timers: 0, closing: 0 })
})

test("reg-001 reg-002 a key has one process; the same one is refused too", () => {
  const [one, two] = [sleeper(system), sleeper(system)]
  expect(Registry.register(registry, "k", one)).toEqual({ ok: true })
  expect(Registry.register(registry, "k", two)).toEqual({ ok: false, pid: one })
  expect(Registry.register(registry, "k", one)).toEqual({ ok: false, pid: one })
  expect(Registry.whereis(registry, "k")).toBe(one)
})

test("reg-004 reg-011 REG1 an entry goes when its process dies, at once, and the key is free", () => {
  const [one, two] = [sleeper(system), sleeper(system)]
  Registry.register(registry, "k", one)
  Process.kill(one)
  expect([Registry.whereis(registry, "k"), Registry.keys(registry, one), Registry.count(registry)]).toEqual([
    undefined,
    [],
    0
  ])
  expect(Registry.register(registry, "k", two)).toEqual({ ok: true })
})

test("a dead process is not entered", () => {
  const one = sleeper(system)
  Process.kill(one)
  expect(Registry.register(registry, "k", one)).toEqual({ ok: false, pid: one })
  expect(Registry.whereis(registry, "k")).toBeUndefined()
})

test("reg-005 reg-006 a server is started, called and cast by key", async () => {
  const via = Registry.via(registry, "k")
  const pid = await GenServer.start(system, bank(), undefined, { via })
  GenServer.cast(via, { add: 2 })
  expect(await GenServer.call(via, "get")).toBe(2)
  await expect(GenServer.start(system, bank(), undefined, { via })).rejects.toMatchObject({
    reason: { _tag: "AlreadyStarted", pid }
  })
  await expect(GenServer.call(Registry.via(registry, "nobody"), "get")).rejects.toMatchObject({ reason: "noproc" })
  GenServer.cast(Registry.via(registry, "nobody"), { add: 1 })
})

test("reg-008 REG2 keys lists the keys of a process, unregister removes them and in the end the link", () => {
  const one = sleeper(system)
  Registry.register(registry, "k1", one)
  Registry.register(registry, "k2", one)
  expect(Registry.keys(registry, one)).toEqual(["k1", "k2"])
  expect(Registry.unregister(registry, "k1", one)).toBe(true)
  expect(Registry.unregister(registry, "k1", one)).toBe(false)
  expect([Registry.keys(registry, one), Registry.entries(registry)]).toEqual([["k2"], [["k2", one, undefined]]])
  expect(Process.info(one)?.links).toEqual([registry])
  Registry.unregister(registry, "k2", one)
  expect(Process.info(one)?.links).toEqual([])
})

test("reg-010 when the registry is killed its members end", () => {
  const [one, two] = [sleeper(system), sleeper(system)]
  Registry.register(registry, "k", one)
  Process.kill(registry)
  expect([Process.exitReason(one), Process.isAlive(two)]).toEqual(["killed", true])
  expect(Registry.whereis(registry, "k")).toBeUndefined()
})

test("the crash of a member leaves the registry alone", () => {
  const one = sleeper(system)
  Registry.register(registry, "k", one)
  Process.exit(one, "boom")
  expect(Process.isAlive(registry)).toBe(true)
})

test("reg-003 a duplicate key has many processes, and one many times, in the order they came", async () => {
  const topics = await Registry.start(system, { keys: "duplicate" })
  const [one, two] = [sleeper(system), sleeper(system)]
  for (const [pid, value] of [
    [one, "a"],
    [two, "b"],
    [one, "c"]
  ] as const) {
    expect(Registry.register(topics, "k", pid, value)).toEqual({ ok: true })
  }
  expect(Registry.lookup(topics, "k")).toEqual([
    { pid: one, value: "a" },
    { pid: two, value: "b" },
    { pid: one, value: "c" }
  ])
  expect(Registry.values(topics, "k", one)).toEqual(["a", "c"])
  expect([Registry.keys(topics, one), Registry.count(topics), Registry.whereis(topics, "k")]).toEqual([
    ["k", "k"],
    3,
    one
  ])
  expect(Registry.unregister(topics, "k", one)).toBe(true)
  expect(Registry.lookup(topics, "k")).toEqual([{ pid: two, value: "b" }])
  Process.kill(two)
  expect([Registry.lookup(topics, "k"), Registry.entries(topics)]).toEqual([[], []])
})

test("reg-007 dispatch hands over the entries of a key, and is silent where there are none", async () => {
  const topics = await Registry.start(system, { keys: "duplicate" })
  const [one, two] = [sleeper(system), sleeper(system)]
  Registry.register(topics, "news", one)
  Registry.register(topics, "news", two)
  const seen: Array<ReadonlyArray<Pid>> = []
  const note = (entries: ReadonlyArray<Registry.Entry>) => void seen.push(entries.map(({ pid }) => pid))
  Registry.dispatch(topics, "news", note)
  Registry.dispatch(topics, "sport", note)
  expect(seen).toEqual([[one, two]])
})

test("reg-009 only the holder of a unique key changes its value", () => {
  const [one, two] = [sleeper(system), sleeper(system)]
  Registry.register(registry, "k", one, 1)
  expect(Registry.update(registry, "k", two, () => 9)).toBeUndefined()
  expect(Registry.update(registry, "nobody", one, () => 9)).toBeUndefined()
  expect(Registry.update(registry, "k", one, (n) => Number(n) + 1)).toEqual({ value: 2, before: 1 })
  expect(Registry.lookup(registry, "k")).toEqual([{ pid: one, value: 2 }])
})

test("a server started under a key has the value it was entered with", async () => {
  const pid = await GenServer.start(system, bank(), undefined, { via: Registry.via(registry, "k", "value") })
  expect(Registry.lookup(registry, "k")).toEqual([{ pid, value: "value" }])
})

test("a duplicate key is no name: it is refused as an address, and as one to update", async () => {
  const topics = await Registry.start(system, { keys: "duplicate" })
  expect(() => Registry.via(topics, "k")).toThrow(TypeError)
  expect(() => Registry.update(topics, "k", registry, () => 1)).toThrow(TypeError)
})
