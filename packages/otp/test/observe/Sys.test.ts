import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { assign, setup } from "xstate"
import {
  Clock,
  DynamicSupervisor,
  GenServer,
  OtpError,
  Process,
  Registry,
  StateMachine,
  Supervisor
} from "../../src/index.ts"
import { Sys, System } from "../../src/index.ts"
import type { Pid } from "../../src/index.ts"
import { kernelOf } from "../../src/kernel/cell.ts"
import { bank, empty } from "../double/bank.ts"
import { hop } from "../double/hop.ts"
import { inProcess, sleeper } from "../double/inProcess.ts"
import { Crew } from "../double/worker.ts"

let system: System.System

beforeEach(() => {
  system = System.make()
})

afterEach(() => System.stop(system))

const counter = setup({ types: { events: {} as { type: "add" }, context: {} as { count: number } } }).createMachine({
  initial: "on",
  context: { count: 0 },
  states: { on: { on: { add: { actions: assign(({ context }) => ({ count: context.count + 1 })) } } } }
})

describe("the state", () => {
  test("F15 getState reads a running server's state", async () => {
    const pid = await GenServer.start(system, bank(), undefined)
    GenServer.cast(pid, { add: 2 })
    expect(await Sys.getState(pid)).toEqual({ ...empty, total: 2 })
  })

  test("F16 replaceState writes it, and resolves with the new one", async () => {
    const pid = await GenServer.start(system, bank(), undefined, { name: "bank" })
    const change = (state: typeof empty) => ({ ...state, total: state.total + 7 })
    expect(await Sys.replaceState(Process.named(system, "bank"), change)).toEqual({ ...empty, total: 7 })
    expect(await GenServer.call(pid, "get")).toBe(7)
  })

  test("a change that throws is the asker's: the state stays, the process goes on", async () => {
    const pid = await GenServer.start(system, bank(), undefined)
    const change = (): never => {
      throw new Error("no")
    }
    await expect(Sys.replaceState(pid, change)).rejects.toThrow("no")
    expect(await GenServer.call(pid, "get")).toBe(0)
  })

  test("of a machine it is the snapshot; a replaced one is seen by subscribers, and the machine goes on from it", async () => {
    const pid = StateMachine.start(system, counter)
    const seen: Array<number> = []
    StateMachine.subscribe(pid, (snapshot) => seen.push(snapshot.context.count))
    expect(await Sys.getState(pid)).toMatchObject({ value: "on", context: { count: 0 } })
    await Sys.replaceState<ReturnType<typeof StateMachine.snapshot<typeof counter>>>(pid, (snapshot) => ({
      ...snapshot,
      context: { count: 10 }
    }))
    Process.send(pid, { type: "add" })
    await hop()
    expect(seen).toEqual([10, 11])
  })

  test("of a supervisor it is its rules and its children, and is not to be replaced", async () => {
    const crew = new Crew()
    const fixed = await Supervisor.start(system, { children: [crew.spec("a")], strategy: "oneForAll" })
    const dynamic = await DynamicSupervisor.start(system, { maxChildren: 3 })
    crew.stop("a", "boom")
    await hop()
    expect(await Sys.getState(fixed)).toEqual({
      strategy: "oneForAll",
      autoShutdown: "never",
      maxRestarts: 3,
      maxSeconds: 5,
      restarts: 1,
      children: [{ id: "a", pid: crew.pid("a"), type: "worker" }]
    })
    expect(await Sys.getState(dynamic)).toEqual({
      maxChildren: 3,
      maxRestarts: 3,
      maxSeconds: 5,
      restarts: 0,
      children: []
    })
    await expect(Sys.replaceState(fixed, () => null)).rejects.toBeInstanceOf(OtpError.StateFixed)
    expect(await Sys.getState(await Registry.start(system))).toEqual({ keys: "unique", partitions: 1, entries: 0 })
  })

  test("status returns what the process is, its state among it", async () => {
    const parent = sleeper(system)
    const pid = GenServer.spawnLink(parent, bank(), undefined, { name: "b", trapExit: true })
    await Sys.suspend(pid)
    Process.send(pid, "mail")
    expect(await Sys.status(pid)).toEqual({
      pid,
      label: "bank",
      name: "b",
      kind: "server",
      status: "suspended",
      parent,
      trapExit: true,
      queueLength: 1,
      links: [parent],
      state: empty,
      statistics: undefined
    })
  })
})

describe("requests", () => {
  test("are taken in mailbox order, and no callback sees them", async () => {
    const trace: Array<unknown> = []
    const pid = await GenServer.start(system, bank({ trace }), undefined)
    GenServer.cast(pid, { add: 1 })
    const asked = Sys.getState(pid)
    GenServer.cast(pid, { add: 1 })
    expect(await asked).toEqual({ ...empty, total: 1 })
    expect(trace).toEqual(["init", { add: 1 }, { add: 1 }])
  })

  test("do not end a wait for a timeout of the server", async () => {
    const clock = Clock.test()
    const timed = System.make({ clock })
    const trace: Array<unknown> = []
    const pid = await GenServer.start(
      timed,
      bank({ trace, init: () => GenServer.ok(empty, { timeout: 100 }) }),
      undefined
    )
    const asked = Sys.getState(pid)
    await clock.advance(100)
    await asked
    expect(trace).toEqual(["init", ["info", "timeout"]])
    await System.stop(timed)
  })

  test("wait for a busy process, as long as they may", async () => {
    const clock = Clock.test()
    const timed = System.make({ clock })
    const stuck = GenServer.make<void, null, never, never, "go">({
      init: () => GenServer.ok(null),
      handleCast: () => new Promise(() => {})
    })
    const pid = await GenServer.start(timed, stuck, undefined)
    GenServer.cast(pid, "go")
    const asked = Sys.getState(pid, { timeout: 100 }).catch((error: unknown) => error)
    await clock.advance(100)
    expect(await asked).toEqual(new OtpError.CallExit({ reason: "timeout", in: "Sys.getState" }))
    expect(System.stats(timed).timers).toBe(0)
    await System.stop(timed)
  })

  test("to a dead process, to oneself, and to a process that takes none fail with a reason", async () => {
    const pid = await GenServer.start(system, bank(), undefined)
    await GenServer.stop(pid)
    await expect(Sys.getState(pid)).rejects.toMatchObject({ reason: "noproc" })
    await expect(Sys.suspend(sleeper(system))).rejects.toBeInstanceOf(OtpError.NoSystemMessages)
    const asking = GenServer.make<void, null, never, never, "go">({
      init: () => GenServer.ok(null),
      handleCast: (_message, state, self) =>
        Sys.getState(self).catch((error: unknown) => GenServer.stopping(error, state)) as Promise<never>
    })
    const alone = await GenServer.start(system, asking, undefined)
    GenServer.cast(alone, "go")
    await hop()
    expect(Process.exitReason(alone)).toMatchObject({ reason: "calling_self" })
  })
})

describe("suspend", () => {
  test("F17 a suspended server queues messages and handles them after resume", async () => {
    const pid = await GenServer.start(system, bank(), undefined)
    await Sys.suspend(pid)
    GenServer.cast(pid, { add: 7 })
    await expect(GenServer.call(pid, "get", { timeout: 1 })).rejects.toMatchObject({ reason: "timeout" })
    await Sys.resume(pid)
    expect(await GenServer.call(pid, "get")).toBe(7)
  })

  test("a machine too takes its events after resume", async () => {
    const pid = StateMachine.start(system, counter)
    await Sys.suspend(pid)
    Process.send(pid, { type: "add" })
    await hop()
    expect(StateMachine.snapshot(pid).context.count).toBe(0)
    await Sys.resume(pid)
    await hop()
    expect(StateMachine.snapshot(pid).context.count).toBe(1)
  })

  test("a suspended supervisor restarts its children after resume", async () => {
    const crew = new Crew()
    const top = await Supervisor.start(system, { children: [crew.spec("a")] })
    await Sys.suspend(top)
    crew.stop("a", "boom")
    await hop()
    expect(Process.isAlive(crew.pid("a"))).toBe(false)
    await Sys.resume(top)
    await hop()
    expect(Process.isAlive(crew.pid("a"))).toBe(true)
  })

  test("SYSP1 suspending twice is suspending once; resuming what runs changes nothing", async () => {
    const pid = await GenServer.start(system, bank(), undefined)
    await Sys.resume(pid)
    await Promise.all([Sys.suspend(pid), Sys.suspend(pid)])
    await Sys.resume(pid)
    expect(await GenServer.call(pid, "get")).toBe(0)
  })

  test("requests queued behind a suspension are taken at once, in their order", async () => {
    const pid = await GenServer.start(system, bank(), undefined)
    const order: Array<string> = []
    const note = (name: string) => () => void order.push(name)
    await Promise.all([
      Sys.suspend(pid).then(note("suspend")),
      GenServer.call(pid, "get").then(note("call")),
      Sys.getState(pid).then(note("state")),
      Sys.status(pid).then(note("status")),
      Sys.resume(pid).then(note("resume"))
    ])
    expect(order).toEqual(["suspend", "state", "status", "resume", "call"])
  })

  test("SYSP2 a suspended server still stops when asked to, before its mail", async () => {
    const trace: Array<unknown> = []
    const pid = await GenServer.start(system, bank({ trace }), undefined)
    await Sys.suspend(pid)
    GenServer.cast(pid, { add: 1 })
    await GenServer.stop(pid)
    expect(trace).toEqual(["init", ["terminate", "normal"]])
  })

  test("SYSP2 a suspended supervisor and its children end with its parent", async () => {
    const crew = new Crew()
    const nested = Supervisor.childSpec("inner", { children: [crew.spec("a")] })
    const top = await Supervisor.start(system, { children: [nested] })
    const [inner] = await Supervisor.whichChildren(top)
    await Sys.suspend(inner?.pid as Pid)
    crew.take()
    await Supervisor.stop(top)
    expect(crew.take()).toEqual([["terminate", "a", "shutdown"]])
    expect(System.stats(system).processes).toBe(0)
  })

  test("SUSP3 a suspended process that does not trap exits is ended by a signal, and killed by kill", async () => {
    const [one, two] = [
      await GenServer.start(system, bank(), undefined),
      await GenServer.start(system, bank(), undefined, { trapExit: true })
    ]
    await Promise.all([Sys.suspend(one), Sys.suspend(two)])
    Process.exit(one, "boom")
    Process.exit(two, "boom")
    expect([Process.exitReason(one), Process.isAlive(two)]).toEqual(["boom", true])
    Process.kill(two)
    expect(Process.exitReason(two)).toBe("killed")
  })
})

describe("trace", () => {
  /** What a process does, without the time it takes. */
  const traced = (pid: Pid) => {
    const events: Array<Sys.TraceEvent> = []
    const stop = Sys.trace(pid, (event) => events.push(event))
    return { stop, events, lines: () => events.map((event) => Sys.formatTrace(pid, event)) }
  }

  test("shows what a server gets, handles, sends and ends with", async () => {
    const pid = await GenServer.start(system, bank(), undefined)
    const { lines } = traced(pid)
    const caller = await inProcess(system, async (self) => {
      await GenServer.call(pid, "get", { from: self })
      return self
    })
    GenServer.cast(pid, { stop: "boom" })
    await hop()
    expect(lines().map((line) => line.replace(/in [\d.]+ ms/, "in time"))).toEqual([
      `bank ${pid} got "get" from main ${caller}`,
      `bank ${pid} sent 0 to main ${caller}`,
      `bank ${pid} handled "get" in time`,
      `bank ${pid} got { stop: "boom" } from no process`,
      `bank ${pid} ended: boom`
    ])
  })

  test("of a plain process shows what it gets and sends, until it is stopped", async () => {
    const friend = sleeper(system, "friend")
    const pid = Process.spawn<string>(
      system,
      async (self) => {
        for (;;) Process.send(friend, await Process.receive(self))
      },
      { label: "relay" }
    )
    await hop()
    const { events, stop } = traced(pid)
    Process.send(pid, "a")
    await hop()
    stop()
    Process.send(pid, "b")
    await hop()
    expect(events.map((event) => event._tag)).toContain("Received")
    expect(events.some((event) => event._tag === "Received" && event.message === "b")).toBe(false)
    expect(kernelOf(system).observer).toBeUndefined()
  })

  test("PROBE1 a tracer that throws is dropped, reported, and hurts nobody", async () => {
    const crashes: Array<unknown> = []
    const loud = System.make({ onCrash: (report) => crashes.push([report.ended, report.reason]) })
    const pid = await GenServer.start(loud, bank(), undefined)
    const error = new Error("tracer")
    Sys.trace(pid, () => {
      throw error
    })
    const { events } = traced(pid)
    expect(await GenServer.call(pid, "get")).toBe(0)
    expect(crashes).toEqual([[false, error]])
    expect(events.length).toBeGreaterThan(0)
    await System.stop(loud)
  })

  test("PROBE2 what a tracer causes itself is not traced", async () => {
    const pid = await GenServer.start(system, bank(), undefined)
    const tags: Array<string> = []
    Sys.trace(pid, (event) => {
      tags.push(event._tag)
      Process.send(pid, "more")
    })
    Process.kill(pid)
    expect(tags).toEqual(["Ended"])
    const other = await GenServer.start(system, bank(), undefined)
    Sys.trace(other, (event) => {
      tags.push(event._tag)
      if (tags.length < 4) Process.send(other, "more")
    })
    Process.send(other, "once")
    expect(tags).toEqual(["Ended", "Received"])
    await hop()
  })

  test("PROBE3 ends with its process, and leaves no watch behind", async () => {
    const pid = await GenServer.start(system, bank(), undefined)
    const { events } = traced(pid)
    Process.kill(pid)
    expect(events).toEqual([{ _tag: "Ended", reason: "killed" }])
    expect(kernelOf(system).observer).toBeUndefined()
    Sys.trace(pid, () => {})
    Sys.setStatistics(pid, true)
    expect(kernelOf(system).observer).toBeUndefined()
  })
})

describe("statistics", () => {
  test("count what a process gets, handles and sends, from when they are switched on", async () => {
    const clock = Clock.test()
    const timed = System.make({ clock })
    await clock.advance(5)
    const pid = await GenServer.start(timed, bank(), undefined)
    GenServer.cast(pid, { add: 1 })
    await hop()
    expect(Sys.statistics(pid)).toBeUndefined()
    Sys.setStatistics(pid, true)
    GenServer.cast(pid, { add: 1 })
    await GenServer.call(pid, "get")
    await hop()
    expect(Sys.statistics(pid)).toMatchObject({ since: 5, received: 2, handled: 2, sent: 1 })
    expect((await Sys.status(pid)).statistics).toMatchObject({ received: 2, handled: 2 })
    Sys.setStatistics(pid, true)
    expect(Sys.statistics(pid)).toMatchObject({ received: 2 })
    Sys.setStatistics(pid, false)
    expect(Sys.statistics(pid)).toBeUndefined()
    expect(kernelOf(timed).observer).toBeUndefined()
    await System.stop(timed)
  })
})
