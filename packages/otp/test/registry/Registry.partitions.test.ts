import { afterEach, beforeEach, expect, test } from "vitest"
import { GenServer, Observer, OtpError, Process, Registry, Supervisor, System } from "../../src/index.ts"
import type { Pid } from "../../src/index.ts"
import { bank } from "../double/bank.ts"
import { hop } from "../double/hop.ts"
import { sleeper } from "../double/inProcess.ts"

let system: System.System

beforeEach(() => {
  system = System.make()
})

afterEach(async () => {
  await System.stop(system)
  expect(System.stats(system)).toEqual({ processes: 0, fibers: 0, timers: 0, closing: 0 })
})

const partitionsOf = (registry: Pid): ReadonlyArray<Pid> =>
  Observer.tree(system).flatMap((node) => (node.pid === registry ? node.children.map(({ pid }) => pid) : []))

const fill = (registry: Pid, count: number, keyOf: (n: number) => unknown): ReadonlyArray<Pid<unknown>> =>
  Array.from({ length: count }, (_, n) => {
    const pid = sleeper(system)
    expect(Registry.register(registry, keyOf(n), pid, n)).toEqual({ ok: true })
    return pid
  })

test("RPART1 unique keys of any kind are found, in whichever partition they are", async () => {
  const registry = await Registry.start(system, { partitions: 4 })
  const shape = { size: 1 }
  const keys = ["a", 7, -7, 1.5, 0, Number.NaN, undefined, null, true, Symbol("s"), shape, () => 1, 10n]
  const pids = fill(registry, keys.length, (n) => keys[n])
  expect(keys.map((key) => Registry.whereis(registry, key))).toEqual(pids)
  expect(Registry.register(registry, shape, sleeper(system))).toEqual({ ok: false, pid: pids[10] })
  expect([Registry.count(registry), Registry.keys(registry, pids[0] as Pid)]).toEqual([keys.length, ["a"]])
  expect(Registry.whereis(registry, -0)).toBe(pids[4])
  expect(keys.map((key, n) => Registry.unregister(registry, key, pids[n] as Pid))).toEqual(keys.map(() => true))
})

test("RPART1 the entries of a process under many unique keys are in many partitions, and go with it", async () => {
  const registry = await Registry.start(system, { partitions: 3 })
  const pid = sleeper(system)
  const keys = Array.from({ length: 30 }, (_, n) => `key ${n}`)
  for (const key of keys) Registry.register(registry, key, pid)
  expect(new Set(Registry.keys(registry, pid))).toEqual(new Set(keys))
  expect(Process.info(pid)?.links).toHaveLength(3)
  Process.kill(pid)
  expect(Registry.entries(registry)).toEqual([])
})

test("RPART1 a duplicate key is in the partitions of its processes, and dispatch runs once for each of them", async () => {
  const registry = await Registry.start(system, { keys: "duplicate", partitions: 2 })
  const pids = fill(registry, 6, () => "news")
  const parts: Array<ReadonlyArray<Pid>> = []
  Registry.dispatch(registry, "news", (entries) => void parts.push(entries.map(({ pid }) => pid)))
  expect(parts.map(({ length }) => length)).toEqual([3, 3])
  expect(new Set(parts.flat())).toEqual(new Set(pids))
  expect(Registry.lookup(registry, "news").map(({ pid }) => pid)).toEqual(parts.flat())
  expect(Registry.values(registry, "news", pids[3] as Pid)).toEqual([3])

  const lonely = sleeper(system)
  Registry.register(registry, "sport", lonely)
  parts.length = 0
  Registry.dispatch(registry, "sport", (entries) => void parts.push(entries.map(({ pid }) => pid)))
  expect([parts, Registry.whereis(registry, "sport")]).toEqual([[[lonely]], lonely])
  expect(Registry.unregister(registry, "sport", lonely)).toBe(true)
  expect(Registry.count(registry)).toBe(6)
})

test.each(["unique", "duplicate"] as const)(
  "RPART2 with %s keys the end of a partition ends its members alone, and it is started again, empty",
  async (keys) => {
    const registry = await Registry.start(system, { keys, partitions: 4 })
    const pids = fill(registry, 40, (n) => `key ${n}`)
    const [lost] = partitionsOf(registry)
    const members = pids.filter((pid) => Process.info(pid)?.links.includes(lost as Pid) === true)
    expect(members.length).toBeGreaterThan(0)
    expect(members.length).toBeLessThan(40)
    Process.kill(lost as Pid)
    expect(pids.filter((pid) => !Process.isAlive(pid))).toEqual(members)
    expect(Registry.count(registry)).toBe(40 - members.length)
    await hop()
    expect(partitionsOf(registry)).toHaveLength(4)
    expect(partitionsOf(registry)).not.toContain(lost)
    fill(registry, 40, (n) => `new ${n}`)
    expect(Registry.count(registry)).toBe(80 - members.length)
  }
)

test("RPART2 until it is started again a partition takes no entry", async () => {
  const registry = await Registry.start(system, { partitions: 2 })
  for (const partition of partitionsOf(registry)) Process.kill(partition)
  const pid = sleeper(system)
  expect(() => Registry.register(registry, "k", pid)).toThrow(OtpError.CallExit)
  expect([Registry.whereis(registry, "k"), Registry.count(registry)]).toEqual([undefined, 0])
  await hop()
  expect(Registry.register(registry, "k", pid)).toEqual({ ok: true })
})

test("RPART2 a registry whose partitions end more than 3 times in 5 seconds ends with shutdown", async () => {
  const registry = await Registry.start(system, { partitions: 2 })
  for (let loss = 0; loss < 4; loss++) {
    expect(Process.isAlive(registry)).toBe(true)
    Process.kill(partitionsOf(registry)[0] as Pid)
    await hop()
  }
  expect(Process.exitReason(registry)).toBe("shutdown")
})

test("RPART3 partitions and members end with the registry, at once", async () => {
  const registry = await Registry.start(system, { partitions: 3 })
  const partitions = partitionsOf(registry)
  const pids = fill(registry, 9, (n) => n)
  Process.kill(registry)
  expect([...partitions, ...pids].map((pid) => Process.exitReason(pid))).toEqual(
    [...partitions, ...pids].map(() => "killed")
  )
  expect([Registry.whereis(registry, 1), Registry.count(registry)]).toEqual([undefined, 0])
})

test("metadata outlives a partition, and a listener gets the lost entries", async () => {
  const changes: Array<unknown> = []
  const listener = await GenServer.start(
    system,
    GenServer.make<void, null, never, unknown, never, Registry.Change>({
      init: () => GenServer.ok(null),
      handleInfo: (change) => void changes.push(change)
    }),
    undefined
  )
  const registry = await Registry.start(system, { partitions: 2, listeners: [listener], meta: [["m", 1]] })
  const pids = fill(registry, 10, (n) => n)
  for (const partition of partitionsOf(registry)) Process.kill(partition)
  await hop()
  expect(Registry.meta(registry, "m")).toBe(1)
  expect(changes).toHaveLength(2 * pids.length)
})

test("a server is started, found and called by its key in a partition, also after that was lost", async () => {
  const supervisor = await Supervisor.start(system, { children: [Registry.childSpec("rooms", { partitions: 2 })] })
  const [child] = await Supervisor.whichChildren(supervisor)
  const registry = child?.pid as Pid
  const via = Registry.via(registry, "k")
  await GenServer.start(system, bank(), undefined, { via })
  expect(await GenServer.call(via, "get")).toBe(0)
  for (const { pid } of Observer.tree(system)[0]?.children[0]?.children ?? []) Process.kill(pid)
  await hop()
  expect(via.whereis()).toBeUndefined()
  const pid = await GenServer.start(system, bank(), undefined, { via })
  expect([via.whereis(), Registry.whereis(registry, "k")]).toEqual([pid, pid])
})

test("START3 RPART2 while a key's partition, or the registry, is lost, no server starts under it, and nobody is entered", async () => {
  const registry = await Registry.start(system, { partitions: 2 })
  const member = sleeper(system)
  const via = Registry.via(registry, "k")
  const noproc = { _tag: "CallExit", reason: "noproc", in: "Registry.register" }
  const refusedNow = async (): Promise<void> => {
    const before = System.stats(system).processes
    expect(() => Registry.register(registry, "k", member)).toThrow(expect.objectContaining(noproc))
    const starting = GenServer.start(system, bank(), undefined, { via })
    expect(System.stats(system).processes).toBe(before)
    await expect(starting).rejects.toEqual(
      expect.objectContaining({ _tag: "StartFailed", reason: expect.objectContaining(noproc) })
    )
  }
  for (const partition of partitionsOf(registry)) Process.kill(partition)
  await refusedNow()
  await hop()
  expect(Registry.register(registry, "k", member)).toEqual({ ok: true })
  Process.kill(registry)
  await refusedNow()
})

test("START3 a server does not start under an address that another process got meanwhile", async () => {
  const holder = sleeper(system)
  const via = { ...Registry.via(await Registry.start(system), "k"), claim: () => holder }
  await expect(GenServer.start(system, bank(), undefined, { via })).rejects.toEqual(
    expect.objectContaining({ reason: expect.objectContaining({ _tag: "AlreadyStarted", pid: holder }) })
  )
})

test.each([0, 1.5, -1])("%s partitions are refused", async (partitions) => {
  await expect(Registry.start(system, { partitions })).rejects.toEqual(
    expect.objectContaining({ reason: expect.objectContaining({ _tag: "InvalidOption", option: "partitions" }) })
  )
})
