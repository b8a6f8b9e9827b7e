import { Effect } from "effect"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import {
  Clock,
  DynamicSupervisor,
  ExitReason,
  GenServer,
  OtpError,
  Process,
  Supervisor,
  System
} from "../../src/index.ts"
import type { Pid } from "../../src/index.ts"
import { hop } from "../double/hop.ts"
import { sleeper } from "../double/inProcess.ts"
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

const start = (children: ReadonlyArray<Supervisor.ChildSpec>, options: Partial<Supervisor.Options> = {}) =>
  Supervisor.start(system, { children, ...options })

const three = (rules: Partial<Supervisor.ChildSpec> = {}) => ["a", "b", "c"].map((id) => crew.spec(id, rules))

const crash = async (id: string, reason: unknown = "boom"): Promise<void> => {
  crew.stop(id, reason)
  await hop()
}

const refused = (reason: string) => expect.objectContaining({ _tag: "ChildRefused", reason })

const ended = (...ids: ReadonlyArray<string>) => ids.map((id) => ["terminate", id, "shutdown"])
const up = (...ids: ReadonlyArray<string>) => ids.map((id) => ["init", id])

describe("start and stop", () => {
  test("sup-001 SUP1 children start in list order and stop in reverse order with shutdown", async () => {
    const supervisor = await start(three())
    await Supervisor.stop(supervisor)
    expect(crew.take()).toEqual([...up("a", "b", "c"), ...ended("c", "b", "a")])
  })

  test("sup-009 sup-051 a child that is not done in its shutdown time is killed; the default is 5 seconds", async () => {
    const options = { terminate: () => Effect.sleep("1 hour") }
    const supervisor = await start([crew.spec("a", {}, options), crew.spec("b", { shutdown: 100 }, options)])
    const stopping = Supervisor.stop(supervisor)
    await clock.advance(100)
    expect(Process.exitReason(crew.pid("b"))).toBe("killed")
    await clock.advance(4999)
    expect(Process.isAlive(crew.pid("a"))).toBe(true)
    await clock.advance(1)
    expect(Process.exitReason(crew.pid("a"))).toBe("killed")
    await stopping
  })

  test("sup-010 sup-011 sup-012 brutalKill gives no time, infinity all of it; who does not trap ends at once", async () => {
    const slow = { terminate: () => Effect.sleep("1 hour") }
    const supervisor = await start([
      crew.spec("a", { shutdown: "brutalKill" }),
      crew.spec("b", { shutdown: "infinity" }, slow),
      crew.spec("c", {}, { trapExit: false })
    ])
    crew.take()
    const stopping = Supervisor.stop(supervisor)
    await clock.advance(3_600_000)
    await stopping
    expect(crew.take()).toEqual(ended("b"))
    expect(["a", "b", "c"].map((id) => Process.exitReason(crew.pid(id)))).toEqual(["killed", "shutdown", "shutdown"])
  })

  test("sup-018 when a child does not start, those already up are ended and the start fails", async () => {
    const failing = crew.spec("c", {}, { starts: [() => GenServer.fail("config")] })
    await expect(start([crew.spec("a"), crew.spec("b"), failing])).rejects.toEqual(
      expect.objectContaining({
        _tag: "StartFailed",
        reason: ExitReason.shutdown(new OtpError.FailedToStartChild({ id: "c", reason: "config" }))
      })
    )
    expect(crew.take()).toEqual([...up("a", "b", "c"), ...ended("b", "a")])
  })

  test("sup-019 a child that ignores is kept without a process", async () => {
    const supervisor = await start([crew.spec("a", {}, { starts: [GenServer.ignore] }), crew.spec("b")])
    expect(await Supervisor.whichChildren(supervisor)).toEqual([
      { id: "b", pid: crew.pid("b"), type: "worker" },
      { id: "a", pid: undefined, type: "worker" }
    ])
    expect(await Supervisor.countChildren(supervisor)).toEqual({ specs: 2, active: 1, supervisors: 0, workers: 2 })
  })

  test("sup-048 the next child starts only when the one before is up", async () => {
    const slow = async () => {
      await hop()
      crew.trace.push("a is up")
      return GenServer.ok(null)
    }
    await start([crew.spec("a", {}, { starts: [slow] }), crew.spec("b")])
    expect(crew.take()).toEqual([["init", "a"], "a is up", ["init", "b"]])
  })

  test("sup-041 sup-043 a supervisor ends its children and itself when its parent ends, normal or not", async () => {
    for (const reason of ["boom", "normal"]) {
      const parent = sleeper(system)
      const supervisor = await Supervisor.startLink(parent, { children: three() })
      crew.take()
      Process.exit(parent, reason, parent)
      await hop()
      expect(crew.take()).toEqual(ended("c", "b", "a"))
      expect(Process.exitReason(supervisor)).toBe(reason)
    }
  })

  test("sup-040 the children of a killed supervisor get killed over their links", async () => {
    const supervisor = await start([crew.spec("a"), crew.spec("b", {}, { trapExit: false })])
    crew.take()
    Process.kill(supervisor)
    await hop()
    expect(crew.take()).toEqual([["terminate", "a", "killed"]])
    expect(["a", "b"].map((id) => Process.exitReason(crew.pid(id)))).toEqual(["killed", "killed"])
  })

  test("sup-042 SUPS1 an exit of neither the parent nor a child is ignored", async () => {
    const supervisor = await start(three())
    Process.exit(supervisor, "boom", sleeper(system))
    await hop()
    expect(Process.isAlive(supervisor)).toBe(true)
  })

  test("sup-046 stopping a tree goes depth first", async () => {
    const inner = Supervisor.childSpec("inner", { children: [crew.spec("b"), crew.spec("c")] })
    const supervisor = await start([crew.spec("a"), inner, crew.spec("d")])
    crew.take()
    await Supervisor.stop(supervisor)
    expect(crew.take()).toEqual(ended("d", "c", "b", "a"))
  })
})

describe("strategies", () => {
  test("sup-002 oneForOne starts only the crashed child again", async () => {
    await start(three())
    const before = crew.pid("b")
    crew.take()
    await crash("b")
    expect(crew.take()).toEqual([["terminate", "b", "boom"], ...up("b")])
    expect(crew.pid("b")).not.toBe(before)
  })

  test("sup-003 oneForAll ends the others in reverse order, then starts all in order", async () => {
    await start(three(), { strategy: "oneForAll" })
    crew.take()
    await crash("b")
    expect(crew.take()).toEqual([["terminate", "b", "boom"], ...ended("c", "a"), ...up("a", "b", "c")])
  })

  test("sup-004 sup-049 restForOne ends and starts those after the crashed one", async () => {
    await start(three(), { strategy: "restForOne" })
    crew.take()
    await crash("b")
    expect(crew.take()).toEqual([["terminate", "b", "boom"], ...ended("c"), ...up("b", "c")])
    await crash("c")
    expect(crew.take()).toEqual([["terminate", "c", "boom"], ...up("c")])
  })

  test("sup-044 on a group restart a temporary sibling is ended for good, a transient one comes again", async () => {
    const children = [
      crew.spec("a"),
      crew.spec("b", { restart: "temporary" }),
      crew.spec("c", { restart: "transient" })
    ]
    const supervisor = await start(children, { strategy: "oneForAll" })
    crew.take()
    await crash("a")
    expect(crew.take().slice(3)).toEqual(up("a", "c"))
    expect((await Supervisor.countChildren(supervisor)).specs).toBe(2)
  })
})

describe("restart", () => {
  test("sup-005 a permanent child is started again after a normal end too", async () => {
    await start([crew.spec("a")])
    crew.take()
    await crash("a", "normal")
    expect(crew.take().slice(1)).toEqual(up("a"))
  })

  test("sup-006 sup-007 a transient child is started again unless it ended normal or shutdown", async () => {
    for (const reason of ["normal", "shutdown", ExitReason.shutdown("x")]) {
      const supervisor = await start([crew.spec("a", { restart: "transient" })])
      crew.take()
      await crash("a", reason)
      expect(crew.take()).toEqual([["terminate", "a", reason]])
      expect(await Supervisor.whichChildren(supervisor)).toEqual([{ id: "a", pid: undefined, type: "worker" }])
    }
    await start([crew.spec("b", { restart: "transient" })])
    Process.kill(crew.pid("b"))
    await hop()
    expect(crew.take()).toEqual(up("b", "b"))
  })

  test("sup-008 a temporary child is never started again, and its spec is gone", async () => {
    const supervisor = await start([crew.spec("a", { restart: "temporary" })])
    await crash("a")
    expect(await Supervisor.whichChildren(supervisor)).toEqual([])
  })

  test("sup-013 sup-014 WINDOW1 the limit allows exactly so many restarts, by default 3 in 5 seconds", async () => {
    const supervisor = await start([crew.spec("a"), crew.spec("b")])
    for (const _ of [1, 2, 3]) await crash("b")
    expect(Process.isAlive(supervisor)).toBe(true)
    crew.take()
    await crash("b")
    expect(crew.take()).toEqual([["terminate", "b", "boom"], ...ended("a")])
    expect(Process.exitReason(supervisor)).toBe("shutdown")
  })

  test("a supervisor that gives up is reported, with the child it gave up on", async () => {
    const messages: Array<string> = []
    const loud = System.make({ onCrash: (report) => messages.push(report.message) })
    const supervisor = await Supervisor.start(loud, { children: [crew.spec("a")], maxRestarts: 0, label: "top" })
    await crash("a", "normal")
    expect(messages).toEqual([
      `top ${supervisor} ended: RestartLimit: ${new OtpError.RestartLimit({ id: "a", limit: 0 }).message}`
    ])
    await System.stop(loud)
  })

  test("sup-015 with maxRestarts 0 the first crash ends the supervisor", async () => {
    const supervisor = await start([crew.spec("a")], { maxRestarts: 0 })
    await crash("a")
    expect(Process.exitReason(supervisor)).toBe("shutdown")
  })

  test("sup-016 WINDOW1 restarts older than maxSeconds do not count", async () => {
    const supervisor = await start([crew.spec("a")], { maxRestarts: 1, maxSeconds: 1 })
    await crash("a")
    await clock.advance(1001)
    await crash("a")
    expect(Process.isAlive(supervisor)).toBe(true)
    await crash("a")
    expect(Process.isAlive(supervisor)).toBe(false)
  })

  test("sup-017 sup-047 a group restart counts once, and an end without restart not at all", async () => {
    const group = await start(three(), { strategy: "oneForAll", maxRestarts: 1 })
    await crash("b")
    expect(Process.isAlive(group)).toBe(true)
    const transient = await start(
      [crew.spec("x", { restart: "temporary" }), crew.spec("y", { restart: "transient" })],
      {
        maxRestarts: 0
      }
    )
    await crash("x")
    await crash("y", "normal")
    expect(Process.isAlive(transient)).toBe(true)
  })

  test("sup-020 sup-021 SUP2 a restart that fails is tried again at once, and every try counts", async () => {
    const fail = () => GenServer.fail("not yet")
    const later = crew.spec("a", {}, { starts: [() => GenServer.ok(null), fail, fail, () => GenServer.ok(null)] })
    const supervisor = await start([later])
    crew.take()
    await crash("a")
    expect(crew.take().slice(1)).toEqual(up("a", "a", "a"))
    expect(Process.isAlive(supervisor)).toBe(true)
    const never = await start([crew.spec("b", {}, { starts: [() => GenServer.ok(null), fail] })])
    crew.take()
    await crash("b")
    expect(crew.take().slice(1)).toEqual(up("b", "b", "b"))
    expect(Process.exitReason(never)).toBe("shutdown")
  })

  test("sup-022 a restart that ignores leaves the child without a process", async () => {
    const supervisor = await start([crew.spec("a", {}, { starts: [() => GenServer.ok(null), GenServer.ignore] })])
    await crash("a")
    expect(await Supervisor.whichChildren(supervisor)).toEqual([{ id: "a", pid: undefined, type: "worker" }])
  })

  test("sup-039 a supervisor that gives up is started again by its own, with a fresh count", async () => {
    const inner = Supervisor.childSpec("inner", { children: [crew.spec("a")], maxRestarts: 1 })
    const supervisor = await start([inner])
    await crash("a")
    await crash("a")
    await crash("a")
    expect(Process.isAlive(crew.pid("a"))).toBe(true)
    expect(Process.isAlive(supervisor)).toBe(true)
  })

  test("sup-050 a group restart that fails is undone and tried as a whole again", async () => {
    const starts = [() => GenServer.ok(null), () => GenServer.fail("not yet"), () => GenServer.ok(null)]
    await start([crew.spec("a"), crew.spec("b", {}, { starts }), crew.spec("c")], { strategy: "oneForAll" })
    crew.take()
    await crash("a")
    expect(crew.take()).toEqual([
      ["terminate", "a", "boom"],
      ...ended("c", "b"),
      ...up("a", "b"),
      ...ended("a"),
      ...up("a", "b", "c")
    ])
  })

  test("sup-052 a crash during another child's slow restart is handled after it", async () => {
    const slow = () => Effect.sleep("1 second").pipe(Effect.as(GenServer.ok(null)))
    await start([crew.spec("a", {}, { starts: [() => GenServer.ok(null), slow] }), crew.spec("b")])
    crew.take()
    await crash("a")
    await crash("b")
    expect(crew.take()).toEqual([
      ["terminate", "a", "boom"],
      ["init", "a"],
      ["terminate", "b", "boom"]
    ])
    await clock.advance(1000)
    expect(crew.take()).toEqual(up("b"))
  })

  test("START-KIDS1 a child that forgot to link is linked, and its crash is seen", async () => {
    let starts = 0
    let child: Pid | undefined
    await start([{ id: "a", start: () => (child = ++starts === 1 ? sleeper(system) : sleeper(system, "again")) }])
    Process.exit(child as unknown as Pid, "boom")
    await hop()
    expect([starts, (child as unknown as Pid).label]).toEqual([2, "again"])
  })
})

describe("requests", () => {
  test("sup-023 sup-024 sup-025 sup-026 terminate, restart and delete a child", async () => {
    const supervisor = await start([crew.spec("a"), crew.spec("t", { restart: "temporary" })])
    await expect(Supervisor.restartChild(supervisor, "a")).rejects.toEqual(refused("running"))
    await expect(Supervisor.deleteChild(supervisor, "a")).rejects.toEqual(refused("running"))
    await Supervisor.terminateChild(supervisor, "a")
    await hop()
    expect(Process.exitReason(crew.pid("a"))).toBe("shutdown")
    expect(await Supervisor.restartChild(supervisor, "a")).toBe(crew.pid("a"))
    await Supervisor.terminateChild(supervisor, "a")
    await Supervisor.deleteChild(supervisor, "a")
    await expect(Supervisor.deleteChild(supervisor, "a")).rejects.toEqual(refused("notFound"))
    await Supervisor.terminateChild(supervisor, "t")
    expect(await Supervisor.whichChildren(supervisor)).toEqual([])
  })

  test("sup-027 sup-028 a child added later is the last; a used id is refused", async () => {
    const supervisor = await start([crew.spec("a")])
    expect(await Supervisor.startChild(supervisor, crew.spec("b"))).toBe(crew.pid("b"))
    await expect(Supervisor.startChild(supervisor, crew.spec("b"))).rejects.toEqual(refused("alreadyStarted"))
    await Supervisor.terminateChild(supervisor, "b")
    await expect(Supervisor.startChild(supervisor, crew.spec("b"))).rejects.toEqual(refused("alreadyPresent"))
    await Supervisor.restartChild(supervisor, "b")
    crew.take()
    await Supervisor.stop(supervisor)
    expect(crew.take()).toEqual(ended("b", "a"))
  })

  test("sup-027 sup-034 a spec with a used id and a wrong combination is refused for the combination", async () => {
    const supervisor = await start([crew.spec("a")])
    const twice = crew.spec("a", { restart: "transient", significant: true })
    await expect(Supervisor.startChild(supervisor, twice)).rejects.toEqual(refused("significantUnheeded"))
  })

  test("sup-029 countChildren returns specs, active, supervisors and workers", async () => {
    const inner = DynamicSupervisor.childSpec("inner")
    const supervisor = await start([crew.spec("a"), crew.spec("b"), inner])
    await Supervisor.terminateChild(supervisor, "a")
    expect(await Supervisor.countChildren(supervisor)).toEqual({ specs: 3, active: 2, supervisors: 1, workers: 2 })
  })

  test("sup-030 sup-031 a child added later that fails is not kept, one that ignores is", async () => {
    const supervisor = await start([])
    await expect(
      Supervisor.startChild(supervisor, crew.spec("a", {}, { starts: [() => GenServer.fail("config")] }))
    ).rejects.toEqual(expect.objectContaining({ _tag: "StartFailed", reason: "config" }))
    expect(await Supervisor.startChild(supervisor, crew.spec("b", {}, { starts: [GenServer.ignore] }))).toBeUndefined()
    expect((await Supervisor.countChildren(supervisor)).specs).toBe(1)
  })
})

describe("auto shutdown", () => {
  const significant = (id: string, restart: Supervisor.Restart = "transient") =>
    crew.spec(id, { restart, significant: true })

  test("sup-032 anySignificant: the end of one significant child ends the supervisor", async () => {
    const supervisor = await start([significant("a"), significant("b"), crew.spec("c")], {
      autoShutdown: "anySignificant"
    })
    crew.take()
    await crash("a", "normal")
    expect(crew.take()).toEqual([["terminate", "a", "normal"], ...ended("c", "b")])
    expect(Process.exitReason(supervisor)).toBe("shutdown")
  })

  test("sup-033 allSignificant: only the end of the last one", async () => {
    const supervisor = await start([significant("a"), significant("b"), crew.spec("c")], {
      autoShutdown: "allSignificant"
    })
    await crash("a", "normal")
    expect(Process.isAlive(supervisor)).toBe(true)
    await crash("b", "normal")
    expect(Process.exitReason(supervisor)).toBe("shutdown")
  })

  test("sup-034 sup-035 a significant child needs auto shutdown, and must not be permanent", async () => {
    const bad = (reason: string) => expect.objectContaining({ reason: refused(reason) })
    await expect(start([significant("a")])).rejects.toEqual(bad("significantUnheeded"))
    await expect(start([significant("a", "permanent")], { autoShutdown: "anySignificant" })).rejects.toEqual(
      bad("significantPermanent")
    )
    const supervisor = await start([])
    await expect(Supervisor.startChild(supervisor, significant("a"))).rejects.toEqual(refused("significantUnheeded"))
  })

  test("two specs of one id are refused", async () => {
    const twice = [crew.spec("a"), crew.spec("a")]
    await expect(start(twice)).rejects.toEqual(expect.objectContaining({ reason: refused("duplicateId") }))
  })

  test("sup-036 sup-037 sup-038 a restart or an end by hand is none by itself; a temporary's crash is", async () => {
    const supervisor = await start([significant("a"), significant("b", "temporary"), significant("c")], {
      autoShutdown: "anySignificant"
    })
    await crash("a")
    await Supervisor.terminateChild(supervisor, "c")
    expect(Process.isAlive(supervisor)).toBe(true)
    await crash("b")
    expect(Process.exitReason(supervisor)).toBe("shutdown")
  })
})

test("a child is found by its id, its address leads to whoever runs in its place, and neither to a dead one", async () => {
  const counter = GenServer.make({
    init: () => GenServer.ok(0),
    handleCall: (_request: "next", _from, state) => GenServer.replying(state + 1, state + 1)
  })
  const top = await Supervisor.start(system, {
    children: [
      { id: "counter", start: (parent) => GenServer.startLink(parent, counter, undefined) },
      { id: "none", start: () => "ignore" }
    ]
  })
  const address = Supervisor.via(top, "counter")
  expect([await GenServer.call(address, "next"), await GenServer.call(address, "next")]).toEqual([1, 2])
  const first = Supervisor.child(top, "counter")
  if (first !== undefined) Process.kill(first)
  expect(Supervisor.child(top, "counter")).toBeUndefined()
  await hop()
  expect(await GenServer.call(address, "next")).toBe(1)
  expect(Supervisor.child(top, "counter")).not.toBe(first)
  expect(Supervisor.child(top, "none")).toBeUndefined()
  expect(Supervisor.child(top, ["nobody"].join())).toBeUndefined()
  await Supervisor.stop(top)
  await expect(GenServer.call(address, "next")).rejects.toMatchObject({ reason: "noproc" })
  expect(() => Supervisor.child(sleeper(system), "counter")).toThrow(OtpError.NotASupervisor)
})
