import { afterEach, beforeEach, expect, test } from "vitest"
import { Agent, GenServer, PartitionSupervisor, Process, Supervisor, System } from "../../src/index.ts"
import type { Pid } from "../../src/index.ts"
import { hop } from "../double/hop.ts"

let system: System.System

beforeEach(() => {
  system = System.make()
})

afterEach(async () => {
  await System.stop(system)
  expect(System.stats(system)).toEqual({ processes: 0, fibers: 0, timers: 0, closing: 0 })
})

const child = { start: (parent: Pid, partition: number) => Agent.startLink(parent, () => partition) }
const read = (supervisor: Pid, key: unknown): Promise<number> =>
  Agent.get<number, number>(PartitionSupervisor.via(supervisor, key), (n) => n)

test("psup-001 an integer leads to the partition of its remainder", async () => {
  const supervisor = await PartitionSupervisor.start(system, { partitions: 3, child })
  expect(PartitionSupervisor.partitions(supervisor)).toBe(3)
  const keys = [0, 1, 2, 3, 7, -4]
  expect(await Promise.all(keys.map((key) => read(supervisor, key)))).toEqual([0, 1, 2, 0, 1, 1])
})

test("psup-002 equal keys lead to the same partition, whatever they are", async () => {
  const supervisor = await PartitionSupervisor.start(system, { partitions: 5, child })
  const pairs = [
    ["alice", "alice"],
    [{ user: 1 }, { user: 1 }],
    [
      ["chat", supervisor],
      ["chat", supervisor]
    ],
    [1.5, 1.5],
    [undefined, undefined]
  ]
  for (const [one, other] of pairs) {
    expect(PartitionSupervisor.whereis(supervisor, one)).toBeDefined()
    expect(PartitionSupervisor.whereis(supervisor, one)).toBe(PartitionSupervisor.whereis(supervisor, other))
  }
  const spread = new Set(Array.from({ length: 100 }, (_, n) => PartitionSupervisor.partitionOf(supervisor, `key ${n}`)))
  expect(spread.size).toBe(5)
})

test("psup-002 a partition that crashed comes back in its place, and the others stay", async () => {
  const supervisor = await PartitionSupervisor.start(system, { partitions: 2, child, label: "shards" })
  const before = await PartitionSupervisor.whichChildren(supervisor)
  const via = PartitionSupervisor.via(supervisor, 1)
  Process.exit(via.whereis() as Pid, "boom")
  expect([via.whereis(), String(via)]).toEqual([undefined, "shards/1"])
  await hop()
  const after = await PartitionSupervisor.whichChildren(supervisor)
  expect(after.map(({ partition }) => partition)).toEqual([0, 1])
  expect(after[0]).toEqual(before[0])
  expect(after[1]?.pid).toBe(via.whereis())
  expect(await read(supervisor, 1)).toBe(1)
})

test("its partitions are counted, and end with it, the last first", async () => {
  const ended: Array<number> = []
  const start = async (parent: Pid, partition: number): Promise<Pid> => {
    const pid = await Agent.startLink(parent, () => partition)
    Process.onExit(pid, () => ended.push(partition))
    return pid
  }
  const supervisor = await PartitionSupervisor.start(system, { partitions: 3, child: { start } })
  expect(await PartitionSupervisor.countChildren(supervisor)).toMatchObject({ specs: 3, active: 3, workers: 3 })
  const address = PartitionSupervisor.via(supervisor, 0)
  await PartitionSupervisor.stop(supervisor)
  expect([ended, address.whereis()]).toEqual([[2, 1, 0], undefined])
})

test("it can be the child of a supervisor", async () => {
  const spec = PartitionSupervisor.childSpec("shards", { partitions: 2, child, name: "shards" })
  const top = await Supervisor.start(system, { children: [spec] })
  expect(await Supervisor.whichChildren(top)).toMatchObject([{ id: "shards", type: "supervisor" }])
  expect(await read(Process.whereis(system, "shards") as Pid, 1)).toBe(1)
})

test("less than one partition is refused, and so is a process that is no supervisor", async () => {
  await expect(PartitionSupervisor.start(system, { partitions: 0, child })).rejects.toEqual(
    expect.objectContaining({ reason: expect.objectContaining({ _tag: "InvalidOption", option: "partitions" }) })
  )
  const server: Pid = await GenServer.start(system, GenServer.make({ init: () => GenServer.ok(0) }), undefined)
  expect(() => PartitionSupervisor.whereis(server, 1)).toThrow("is no supervisor")
})

test("a temporary partition that ended keeps its place: no key moves, and its keys have no process", async () => {
  const temporary = { ...child, restart: "temporary" as const }
  const supervisor = await PartitionSupervisor.start(system, { partitions: 3, child: temporary })
  Process.kill(PartitionSupervisor.whereis(supervisor, 1) as Pid)
  await hop()
  expect([PartitionSupervisor.partitions(supervisor), PartitionSupervisor.whereis(supervisor, 1)]).toEqual([
    3,
    undefined
  ])
  expect([await read(supervisor, 0), await read(supervisor, 5)]).toEqual([0, 2])
  await expect(read(supervisor, 4)).rejects.toMatchObject({ _tag: "CallExit", reason: "noproc" })
})

test("the partitions of a dead partition supervisor are refused with noproc, and its keys have no process", async () => {
  const supervisor = await PartitionSupervisor.start(system, { partitions: 3, child })
  await PartitionSupervisor.stop(supervisor)
  const gone = expect.objectContaining({ _tag: "CallExit", reason: "noproc", in: "PartitionSupervisor.partitions" })
  expect(() => PartitionSupervisor.partitions(supervisor)).toThrow(gone)
  expect(() => PartitionSupervisor.partitionOf(supervisor, 1)).toThrow(gone)
  await expect(read(supervisor, 1)).rejects.toMatchObject({ reason: "noproc" })
})
