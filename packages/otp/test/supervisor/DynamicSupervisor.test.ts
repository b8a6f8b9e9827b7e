import { Effect } from "effect"
import { afterEach, beforeEach, expect, test } from "vitest"
import { Clock, DynamicSupervisor, GenServer, OtpError, Process, Supervisor, System } from "../../src/index.ts"
import { hop } from "../double/hop.ts"
import { Crew } from "../double/worker.ts"

let system: System.System
let clock: Clock.TestClock
let crew: Crew

beforeEach(() => {
  clock = Clock.test()
  system = System.make({ clock })
  crew = new Crew()
})

afterEach(async () => {
  await System.stop(system)
  expect([System.stats(system), clock.pending]).toEqual([{ processes: 0, fibers: 0, timers: 0, closing: 0 }, 0])
})

const crash = async (id: string, reason: unknown = "boom"): Promise<void> => {
  crew.stop(id, reason)
  await hop()
}

const refused = (reason: string) => expect.objectContaining({ _tag: "ChildRefused", reason })

test("dyn-001 it starts empty", async () => {
  const supervisor = await DynamicSupervisor.start(system)
  expect(await DynamicSupervisor.whichChildren(supervisor)).toEqual([])
  const { id: _id, ...spec } = crew.spec("a")
  const pid = await DynamicSupervisor.startChild(supervisor, spec)
  expect(await DynamicSupervisor.whichChildren(supervisor)).toEqual([{ id: "undefined", pid, type: "worker" }])
})

test("dyn-002 terminateChild ends a child and forgets it", async () => {
  const supervisor = await DynamicSupervisor.start(system)
  const pid = await DynamicSupervisor.startChild(supervisor, crew.spec("a"))
  await DynamicSupervisor.terminateChild(supervisor, pid)
  expect(Process.exitReason(pid)).toBe("shutdown")
  await expect(DynamicSupervisor.terminateChild(supervisor, pid)).rejects.toEqual(refused("notFound"))
})

test("dyn-003 maxChildren bounds the children", async () => {
  const supervisor = await DynamicSupervisor.start(system, { maxChildren: 1 })
  await DynamicSupervisor.startChild(supervisor, crew.spec("a"))
  await expect(DynamicSupervisor.startChild(supervisor, crew.spec("b"))).rejects.toEqual(refused("maxChildren"))
})

test("dyn-004 a permanent child is started again, as a new process", async () => {
  const supervisor = await DynamicSupervisor.start(system)
  const pid = await DynamicSupervisor.startChild(supervisor, crew.spec("a"))
  await crash("a")
  expect(crew.pid("a")).not.toBe(pid)
  expect((await DynamicSupervisor.whichChildren(supervisor)).map((child) => child.pid)).toEqual([crew.pid("a")])
})

test("dyn-005 DYN2 all children are ended at the same time", async () => {
  const slow = { terminate: () => Effect.sleep("1 second") }
  const supervisor = await DynamicSupervisor.start(system)
  for (const id of ["a", "b", "c"]) await DynamicSupervisor.startChild(supervisor, crew.spec(id, {}, slow))
  const stopping = DynamicSupervisor.stop(supervisor)
  await clock.advance(1000)
  await stopping
  expect(["a", "b", "c"].map((id) => Process.exitReason(crew.pid(id)))).toEqual(["shutdown", "shutdown", "shutdown"])
})

test("dyn-006 a child that ignores or fails is not kept", async () => {
  const supervisor = await DynamicSupervisor.start(system)
  await expect(
    DynamicSupervisor.startChild(supervisor, crew.spec("a", {}, { starts: [GenServer.ignore] }))
  ).rejects.toEqual(new OtpError.StartIgnored())
  await expect(
    DynamicSupervisor.startChild(supervisor, crew.spec("a", {}, { starts: [() => GenServer.fail("config")] }))
  ).rejects.toEqual(expect.objectContaining({ _tag: "StartFailed", reason: "config" }))
  expect((await DynamicSupervisor.countChildren(supervisor)).specs).toBe(0)
})

test("dyn-007 the limit holds for all children together", async () => {
  const supervisor = await DynamicSupervisor.start(system, { maxRestarts: 1 })
  for (const id of ["a", "b"]) await DynamicSupervisor.startChild(supervisor, crew.spec(id))
  await crash("a")
  expect(Process.isAlive(supervisor)).toBe(true)
  await crash("b")
  expect(Process.exitReason(supervisor)).toBe("shutdown")
  expect(Process.isAlive(crew.pid("a"))).toBe(false)
})

test("dyn-008 dyn-010 DYN1 a temporary child, and a transient one that ended normal, are forgotten", async () => {
  const supervisor = await DynamicSupervisor.start(system)
  await DynamicSupervisor.startChild(supervisor, crew.spec("a", { restart: "temporary" }))
  await DynamicSupervisor.startChild(supervisor, crew.spec("b", { restart: "transient" }))
  await crash("a")
  await crash("b", "normal")
  expect(await DynamicSupervisor.countChildren(supervisor)).toMatchObject({ specs: 0 })
})

test("dyn-009 a restart that fails is tried again until the limit is spent", async () => {
  const starts = [() => GenServer.ok(null), () => GenServer.fail("not yet")]
  const supervisor = await DynamicSupervisor.start(system)
  await DynamicSupervisor.startChild(supervisor, crew.spec("a", {}, { starts }))
  crew.take()
  await crash("a")
  expect(crew.take().slice(1)).toEqual([1, 2, 3].map(() => ["init", "a"]))
  expect(Process.exitReason(supervisor)).toBe("shutdown")
})

test("it is the child of a supervisor, and its children end before it", async () => {
  const supervisor = await Supervisor.start(system, { children: [DynamicSupervisor.childSpec("dynamic")] })
  const [child] = await Supervisor.whichChildren(supervisor)
  if (child === undefined || typeof child.pid !== "object") throw new Error("no child")
  await DynamicSupervisor.startChild(child.pid, crew.spec("a"))
  await Supervisor.stop(supervisor)
  expect(crew.take()).toEqual([
    ["init", "a"],
    ["terminate", "a", "shutdown"]
  ])
})

test("the extra arguments are handed to the start of every child, and to its restart", async () => {
  const supervisor = await DynamicSupervisor.start(system, { extraArguments: ["settings", 7] })
  const starts: Array<unknown> = []
  const pid = await DynamicSupervisor.startChild(supervisor, {
    start: (parent, ...extra) => {
      starts.push(extra)
      return Process.spawnLink(parent, () => new Promise(() => {}))
    }
  })
  Process.kill(pid)
  await hop()
  expect(starts).toEqual([
    ["settings", 7],
    ["settings", 7]
  ])
})

test("DYN3 a child that keeps failing to restart is terminated by the pid it had", async () => {
  const starts = [() => GenServer.ok(null), () => Effect.as(Effect.sleep(10), GenServer.fail("not yet"))]
  const supervisor = await DynamicSupervisor.start(system, { maxRestarts: 1000 })
  const child = await DynamicSupervisor.startChild(supervisor, crew.spec("a", {}, { starts }))
  await crash("a")
  await clock.advance(25)
  const [, ended] = await Promise.all([clock.advance(10), DynamicSupervisor.terminateChild(supervisor, child)])
  expect(ended).toBeUndefined()
  expect(await DynamicSupervisor.whichChildren(supervisor)).toEqual([])
  await expect(DynamicSupervisor.terminateChild(supervisor, child)).rejects.toEqual(refused("notFound"))
})

test("a child whose restart is retried counts for maxChildren", async () => {
  const starts = [() => GenServer.ok(null), () => Effect.as(Effect.sleep(10), GenServer.fail("not yet"))]
  const supervisor = await DynamicSupervisor.start(system, { maxRestarts: 1000, maxChildren: 1 })
  const child = await DynamicSupervisor.startChild(supervisor, crew.spec("a", {}, { starts }))
  await crash("a")
  const [, another] = await Promise.all([
    clock.advance(25),
    DynamicSupervisor.startChild(supervisor, crew.spec("b")).catch((error: unknown) => error)
  ])
  expect(another).toEqual(refused("maxChildren"))
  await Promise.all([clock.advance(25), DynamicSupervisor.terminateChild(supervisor, child)])
})

test("a child whose restart is ignored is not kept", async () => {
  const supervisor = await DynamicSupervisor.start(system)
  await DynamicSupervisor.startChild(
    supervisor,
    crew.spec("a", {}, { starts: [() => GenServer.ok(null), GenServer.ignore] })
  )
  await crash("a")
  expect(await DynamicSupervisor.whichChildren(supervisor)).toEqual([])
})
