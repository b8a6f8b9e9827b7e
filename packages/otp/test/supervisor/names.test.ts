import { afterEach, beforeEach, expect, test } from "vitest"
import {
  Agent,
  DynamicSupervisor,
  PartitionSupervisor,
  Process,
  Registry,
  Supervisor,
  System,
  Task,
  TaskSupervisor
} from "../../src/index.ts"
import type { Pid } from "../../src/index.ts"
import { hop } from "../double/hop.ts"
import { inProcess } from "../double/inProcess.ts"

let system: System.System

beforeEach(() => {
  system = System.make()
})

afterEach(async () => {
  await System.stop(system)
  expect(System.stats(system)).toEqual({ processes: 0, fibers: 0, timers: 0, closing: 0 })
})

const agent = (parent: Pid): Promise<Agent.Agent<number>> => Agent.startLink(parent, () => 1)
const noproc = { _tag: "CallExit", reason: "noproc" }

test("SUPREQ1 a supervisor is found by its registered name, and again after a restart", async () => {
  const inner = Supervisor.childSpec("inner", { name: "workers", children: [{ id: "a", start: agent }] })
  await Supervisor.start(system, { children: [inner] })
  const workers = Process.named(system, "workers")
  const added = await Supervisor.startChild(workers, { id: "b", start: agent })
  expect(Supervisor.child(workers, "b")).toBe(added)
  expect(
    await Agent.get<number, number>(Supervisor.via<Record<"a", Agent.Agent<number>>, "a">(workers, "a"), (n) => n)
  ).toBe(1)
  await Supervisor.terminateChild(workers, "b")
  await Supervisor.restartChild(workers, "b")
  await Supervisor.terminateChild(workers, "b")
  await Supervisor.deleteChild(workers, "b")
  expect(await Supervisor.countChildren(workers)).toMatchObject({ specs: 1, active: 1 })
  Process.kill(workers.whereis() as Pid)
  await hop()
  expect((await Supervisor.whichChildren(workers)).map(({ id }) => id)).toEqual(["a"])
  await Supervisor.stop(workers)
})

test("SUPREQ1 a supervisor is found by the key of a registry that it was started with", async () => {
  const registry = await Registry.start(system)
  const via = (key: string) => Registry.via(registry, key)
  await Supervisor.start(system, { children: [{ id: "a", start: agent }], via: via("fixed") })
  await DynamicSupervisor.start(system, { via: via("dynamic") })
  await TaskSupervisor.start(system, { via: via("tasks") })
  await PartitionSupervisor.start(system, { partitions: 2, child: { start: agent }, via: via("parts") })
  expect(await Supervisor.countChildren(via("fixed"))).toMatchObject({ active: 1 })
  await DynamicSupervisor.startChild(via("dynamic"), { start: agent })
  expect(await DynamicSupervisor.whichChildren(via("dynamic"))).toHaveLength(1)
  expect(PartitionSupervisor.partitions(via("parts"))).toBe(2)
  expect(await PartitionSupervisor.whichChildren(via("parts"))).toHaveLength(2)
  const value = inProcess(system, async (self) =>
    Task.await(await TaskSupervisor.async(via("tasks"), self, () => "done"), { from: self })
  )
  expect(await value).toBe("done")
  await expect(Supervisor.start(system, { children: [], via: via("fixed") })).rejects.toMatchObject({
    reason: { _tag: "AlreadyStarted" }
  })
  for (const key of ["dynamic", "tasks"]) await DynamicSupervisor.stop(via(key))
  await expect(DynamicSupervisor.countChildren(via("dynamic"))).rejects.toMatchObject(noproc)
  await PartitionSupervisor.stop(via("parts"))
})

test("SUPREQ1 the key of a partition supervisor is the address of a dynamic supervisor, or of a task supervisor", async () => {
  const parts = await PartitionSupervisor.start(system, {
    partitions: 2,
    child: { start: (parent) => DynamicSupervisor.startLink<Agent.Agent<number>>(parent) }
  })
  for (const key of [1, 2, 3]) {
    await DynamicSupervisor.startChild(PartitionSupervisor.via(parts, key), { start: agent })
  }
  const counts = [0, 1].map((key) => DynamicSupervisor.countChildren(PartitionSupervisor.via(parts, key)))
  expect((await Promise.all(counts)).map(({ active }) => active)).toEqual([1, 2])
  const seen = await inProcess(system, async (self) => {
    const task = await TaskSupervisor.asyncNolink(PartitionSupervisor.via(parts, 7), self, () => "done")
    return Task.await(task, { from: self })
  })
  expect(seen).toBe("done")
})

test("SUPREQ1 an address without a process is refused with noproc", async () => {
  const nobody = Process.named(system, "nobody")
  await expect(Supervisor.whichChildren(nobody)).rejects.toMatchObject(noproc)
  await expect(Supervisor.stop(nobody)).rejects.toMatchObject({ ...noproc, in: "Supervisor.stop" })
  await expect(TaskSupervisor.startChild(nobody, () => 1)).rejects.toMatchObject(noproc)
  expect(Supervisor.child(nobody, "a")).toBeUndefined()
  expect(() => PartitionSupervisor.partitions(nobody)).toThrow(expect.objectContaining(noproc))
})
