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
  expect([Registry.keys(registry, one), Registry.entries(registry)]).toEqual([["k2"], [["k2", one]]])
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
