import { Deferred, Effect, Stream } from "effect"
import { expect, test } from "vitest"
import { assign, createActor, fromPromise, sendTo, setup, waitFor } from "xstate"
import { Clock, OtpError, Process, StateMachine, System } from "../../src/index.ts"
import type { Pid } from "../../src/index.ts"
import { hop } from "../double/hop.ts"

const nothing: unknown = undefined

const toggle = setup({ types: { events: {} as { type: "flip" } } }).createMachine({
  id: "toggle",
  initial: "off",
  states: { off: { on: { flip: "on" } }, on: { on: { flip: "off" } } }
})

test("a message to a machine is an event, handled in a turn of its process", async () => {
  const system = System.make()
  const pid = StateMachine.start(system, toggle)
  expect(StateMachine.snapshot(pid).value).toBe("off")
  Process.send(pid, { type: "flip" })
  expect(StateMachine.snapshot(pid).value).toBe("off")
  await hop()
  expect(StateMachine.snapshot(pid).value).toBe("on")
  expect(pid.label).toBe("toggle")
  await System.stop(system)
  expect(StateMachine.snapshot(pid).status).toBe("stopped")
  expect(System.stats(system)).toEqual({ processes: 0, fibers: 0, timers: 0, closing: 0 })
})

test("what is no machine is refused with what to pass", () => {
  const system = System.make()
  for (const given of [{}, undefined, () => undefined])
    expect(() => StateMachine.start(system, given as never, {} as never)).toThrow(
      "StateMachine.start takes a machine of XState"
    )
})

test("HOST1 an event sent to the actor reference goes through the mailbox too", async () => {
  const system = System.make()
  const pid = StateMachine.start(system, toggle)
  StateMachine.actor(pid).send({ type: "flip" })
  expect([StateMachine.snapshot(pid).value, Process.info(pid)?.queueLength]).toEqual(["off", 1])
  await hop()
  expect(StateMachine.snapshot(pid).value).toBe("on")
  await System.stop(system)
})

const failing = setup({ types: { events: {} as { type: "fail" } } }).createMachine({
  on: {
    fail: {
      actions: () => {
        throw new Error("broken")
      }
    }
  }
})

test("HOST3 a machine that is done ends its process normal and keeps its output", async () => {
  const system = System.make()
  const machine = setup({ types: { events: {} as { type: "go" } } }).createMachine({
    initial: "a",
    states: { a: { on: { go: "b" } }, b: { type: "final" } },
    output: 42
  })
  const pid = StateMachine.start(system, machine)
  Process.send(pid, { type: "go" })
  await hop()
  expect(Process.exitReason(pid)).toBe("normal")
  expect(StateMachine.output(pid)).toBe(42)
  await System.stop(system)
})

test("HOST3 the error of a machine is the exit reason of its process, and is rethrown nowhere", async () => {
  const crashes: Array<string> = []
  const system = System.make({ onCrash: (report) => crashes.push(report.message) })
  const pid = StateMachine.start(system, failing, { label: "m" })
  StateMachine.actor(pid).subscribe(() => {})
  Process.send(pid, { type: "fail" })
  await hop()
  expect(Process.exitReason(pid)).toEqual(new Error("broken"))
  expect(crashes).toEqual([`m ${pid} ended: Error: broken`])
  await System.stop(system)
})

test("a subscriber that throws is reported and changes nothing for the machine", async () => {
  const crashes: Array<unknown> = []
  const system = System.make({ onCrash: (report) => crashes.push(report.reason) })
  const pid = StateMachine.start(system, toggle)
  StateMachine.subscribe(pid, () => {
    throw new Error("reader")
  })
  Process.send(pid, { type: "flip" })
  await hop()
  expect(StateMachine.snapshot(pid).value).toBe("on")
  expect(crashes).toEqual([new Error("reader")])
  await System.stop(system)
})

const working = (work: Effect.Effect<string, unknown>) =>
  setup({ actors: { work: StateMachine.fromEffect(() => work) } }).createMachine({
    initial: "busy",
    context: { result: "", failed: nothing },
    states: {
      busy: {
        invoke: {
          src: "work",
          onDone: { target: "ready", actions: assign({ result: ({ event }) => event.output }) },
          onError: { target: "ready", actions: assign({ failed: ({ event }) => event.error }) }
        },
        on: { leave: "ready" }
      },
      ready: {}
    }
  })

test("EACT1 killing the process while its effect runs: the finalizer runs once and no event follows", async () => {
  const system = System.make()
  let finalized = 0
  const machine = working(Effect.never.pipe(Effect.ensuring(Effect.sync(() => void finalized++))))
  const pid = StateMachine.start(system, machine)
  const seen: Array<string> = []
  StateMachine.subscribe(pid, (snapshot) => seen.push(snapshot.value))
  expect(System.stats(system).fibers).toBe(1)
  Process.kill(pid)
  expect(Process.exitReason(pid)).toBe("killed")
  await hop()
  expect(finalized).toBe(1)
  expect(seen.filter((value) => value !== "busy")).toEqual([])
  expect(System.stats(system)).toEqual({ processes: 0, fibers: 0, timers: 0, closing: 0 })
})

test("EACT1 a finalizer that takes its time is counted as closing until it is done", async () => {
  const system = System.make()
  const gate = Deferred.makeUnsafe<void>()
  const pid = StateMachine.start(system, working(Effect.never.pipe(Effect.ensuring(Deferred.await(gate)))))
  Process.kill(pid)
  expect(System.stats(system)).toMatchObject({ processes: 0, fibers: 1, closing: 1 })
  Effect.runSync(Deferred.succeed(gate, undefined))
  await System.stop(system)
  expect(System.stats(system)).toEqual({ processes: 0, fibers: 0, timers: 0, closing: 0 })
})

test("EACT1 leaving the invoking state interrupts the effect and drops its result", async () => {
  const system = System.make()
  const gate = Deferred.makeUnsafe<string>()
  const pid = StateMachine.start(system, working(Deferred.await(gate)))
  Process.send(pid, { type: "leave" })
  await hop()
  expect(System.stats(system).fibers).toBe(0)
  Effect.runSync(Deferred.succeed(gate, "late"))
  await hop()
  expect(StateMachine.snapshot(pid).context.result).toBe("")
  await System.stop(system)
})

test("EACT3 an effect that ends synchronously is done when start returns", async () => {
  const system = System.make()
  const pid = StateMachine.start(system, working(Effect.succeed("now")))
  expect(StateMachine.snapshot(pid)).toMatchObject({ value: "ready", context: { result: "now" } })
  const bare = createActor(working(Effect.succeed("now"))).start()
  expect(bare.getSnapshot()).toMatchObject({ value: "ready", context: { result: "now" } })
  await System.stop(system)
})

test("the failure and the defect of an effect are the actor's error", async () => {
  const system = System.make()
  const failed = StateMachine.start(system, working(Effect.yieldNow.pipe(Effect.andThen(Effect.fail({ _tag: "No" })))))
  const died = StateMachine.start(system, working(Effect.die(new Error("bug"))))
  await hop()
  expect(StateMachine.snapshot(failed).context.failed).toEqual({ _tag: "No" })
  expect(StateMachine.snapshot(died).context.failed).toEqual(new Error("bug"))
  await System.stop(system)
})

test("HOST2 a machine that fails stops the children XState would leave running", async () => {
  const system = System.make()
  let finalized = 0
  let aborted = false
  const machine = setup({
    actors: {
      forever: StateMachine.fromEffect(() => Effect.never.pipe(Effect.ensuring(Effect.sync(() => void finalized++)))),
      promise: fromPromise(({ signal }) => {
        signal.addEventListener("abort", () => (aborted = true))
        return new Promise(() => {})
      })
    }
  }).createMachine({
    invoke: [{ src: "forever" }, { src: "promise" }],
    on: {
      fail: {
        actions: () => {
          throw new Error("broken")
        }
      }
    }
  })
  const pid = StateMachine.start(system, machine)
  Process.send(pid, { type: "fail" })
  await hop()
  expect(Process.exitReason(pid)).toEqual(new Error("broken"))
  expect({ finalized, aborted }).toEqual({ finalized: 1, aborted: true })
  expect(System.stats(system)).toEqual({ processes: 0, fibers: 0, timers: 0, closing: 0 })
})

test("delayed transitions follow the system's clock and die with the process", async () => {
  const clock = Clock.test()
  const system = System.make({ clock })
  const machine = setup({}).createMachine({
    initial: "wait",
    states: { wait: { after: { 1000: "more" } }, more: { after: { 1000: "over" } }, over: {} }
  })
  const pid = StateMachine.start(system, machine)
  await clock.advance(999)
  expect(StateMachine.snapshot(pid).value).toBe("wait")
  await clock.advance(1)
  expect(StateMachine.snapshot(pid).value).toBe("more")
  expect(System.stats(system).timers).toBe(1)
  Process.kill(pid)
  expect([clock.pending, System.stats(system).timers]).toEqual([0, 0])
})

test("what a fiber of a system sleeps is the system's time", async () => {
  const clock = Clock.test()
  const system = System.make({ clock })
  const pid = StateMachine.start(system, working(Effect.sleep("1 hour").pipe(Effect.as("woke"))))
  await clock.advance(3_600_000)
  expect(StateMachine.snapshot(pid).context.result).toBe("woke")
  await System.stop(system)
})

const hosting = (spawn: (parent: Pid) => Pid) =>
  setup({ actors: { child: StateMachine.fromProcess(({ parent }) => spawn(parent)) } }).createMachine({
    initial: "up",
    context: { output: nothing, failed: nothing },
    states: {
      up: {
        invoke: {
          id: "child",
          src: "child",
          onDone: { target: "down", actions: assign({ output: ({ event }) => event.output }) },
          onError: { target: "down", actions: assign({ failed: ({ event }) => event.error }) }
        },
        on: { leave: "down", notify: { actions: sendTo("child", { type: "flip" }) } }
      },
      down: {}
    }
  })

test("PACT1 the crash of an actor's process is an error event, and the host lives", async () => {
  const system = System.make()
  let child: Pid | undefined
  const machine = hosting((parent) => (child = Process.spawnLink(parent, () => Promise.reject(new Error("boom")))))
  const pid = StateMachine.start(system, machine)
  await hop()
  expect(Process.isAlive(pid)).toBe(true)
  const failed = StateMachine.snapshot(pid).context.failed
  expect(failed).toBeInstanceOf(OtpError.ProcessExit)
  expect(failed).toMatchObject({ pid: child, reason: new Error("boom") })
  await System.stop(system)
})

test("PACT1 a process that crashes inside its spawn is an error event too", async () => {
  const system = System.make()
  const broken = setup({}).createMachine({
    entry: () => {
      throw new Error("at once")
    }
  })
  const pid = StateMachine.start(
    system,
    hosting((parent) => StateMachine.startLink(parent, broken))
  )
  await hop()
  expect(Process.isAlive(pid)).toBe(true)
  expect(StateMachine.snapshot(pid).context.failed).toMatchObject({ reason: new Error("at once") })
  await System.stop(system)
})

test("PACT1 the end of the host ends its processes, and their output is the actor's", async () => {
  const system = System.make()
  let child: Pid | undefined
  const quiet = hosting((parent) => (child = Process.spawnLink(parent, () => new Promise(() => {}))))
  const pid = StateMachine.start(system, quiet)
  await hop()
  Process.kill(pid)
  expect(Process.exitReason(child as unknown as Pid)).toBe("killed")
  const done = setup({}).createMachine({ initial: "end", states: { end: { type: "final" } }, output: "result" })
  const other = StateMachine.start(
    system,
    hosting((parent) => StateMachine.startLink(parent, done))
  )
  await hop()
  expect(StateMachine.snapshot(other).context.output).toBe("result")
  await System.stop(system)
})

test("PACT2 stopping the actor sends its process shutdown; events to the actor are messages to the process", async () => {
  const system = System.make()
  let child: StateMachine.MachinePid<typeof toggle> | undefined
  const pid = StateMachine.start(
    system,
    hosting((parent) => (child = StateMachine.startLink(parent, toggle)))
  )
  const events = pid as Pid<{ type: string }>
  Process.send(events, { type: "notify" })
  await hop()
  expect(StateMachine.snapshot(child as unknown as StateMachine.MachinePid<typeof toggle>).value).toBe("on")
  Process.send(events, { type: "leave" })
  await hop()
  expect(Process.exitReason(child as unknown as Pid)).toBe("shutdown")
  expect(Process.isAlive(pid)).toBe(true)
  await System.stop(system)
})

test("PACT3 a process actor works under a bare createActor", async () => {
  const actor = createActor(hosting((parent) => Process.spawnLink(parent, () => Promise.reject(new Error("boom")))))
  actor.start()
  const snapshot = await waitFor(actor, (state) => state.value === "down")
  expect(snapshot.context.failed).toMatchObject({ _tag: "ProcessExit", reason: new Error("boom") })
})

test("Exit and Down reach a machine as process.exit and process.down", async () => {
  const system = System.make()
  const machine = setup({
    types: { events: {} as { type: "process.exit"; reason: unknown } | { type: "process.down"; reason: unknown } }
  }).createMachine({
    context: { seen: [] as Array<unknown> },
    on: { "*": { actions: assign({ seen: ({ context, event }) => [...context.seen, [event.type, event.reason]] }) } }
  })
  const pid = StateMachine.start(system, machine, { trapExit: true })
  const other = Process.spawn(system, () => new Promise(() => {}))
  Process.link(pid, other)
  Process.monitor(pid, other)
  Process.exit(other, "boom")
  await hop()
  expect(StateMachine.snapshot(pid).context.seen).toEqual([
    ["process.exit", "boom"],
    ["process.down", "boom"]
  ])
  await System.stop(system)
})

test("a trapping machine ends with its parent", async () => {
  const system = System.make()
  const parent = Process.spawn(system, () => new Promise(() => {}))
  const pid = StateMachine.startLink(parent, toggle, { trapExit: true })
  Process.exit(parent, "boom")
  await hop()
  expect(Process.exitReason(pid)).toBe("boom")
  await System.stop(system)
})

test("SERV3 a trapping machine without a parent ends with the signal it sends itself", async () => {
  const system = System.make()
  const pid = StateMachine.start(system, toggle, { trapExit: true })
  Process.exit(pid, "boom", pid)
  await hop()
  expect(Process.exitReason(pid)).toBe("boom")
  await System.stop(system)
})

test("a machine goes on from a persisted snapshot", async () => {
  const system = System.make()
  const first = StateMachine.start(system, toggle)
  Process.send(first, { type: "flip" })
  await hop()
  const snapshot = StateMachine.persisted(first)
  const second = StateMachine.start(system, toggle, { snapshot })
  expect(StateMachine.snapshot(second).value).toBe("on")
  await System.stop(system)
})

test("a stream's values are snapshots, and stopping the actor ends it", async () => {
  const system = System.make()
  let finalized = 0
  const values = Stream.make(1, 2, 3).pipe(
    Stream.concat(Stream.never),
    Stream.ensuring(Effect.sync(() => void finalized++))
  )
  const machine = setup({ actors: { values: StateMachine.fromStream(() => values) } }).createMachine({
    context: { seen: [] as Array<number | undefined> },
    invoke: {
      src: "values",
      onSnapshot: { actions: assign({ seen: ({ context, event }) => [...context.seen, event.snapshot.context] }) }
    }
  })
  const pid = StateMachine.start(system, machine)
  const seen = () => StateMachine.snapshot(pid).context.seen.filter((value: unknown) => value !== undefined)
  await expect.poll(seen).toEqual([1, 2, 3])
  Process.exit(pid, "boom")
  await hop()
  expect(finalized).toBe(1)
  expect(System.stats(system)).toEqual({ processes: 0, fibers: 0, timers: 0, closing: 0 })
})

test("hostOf finds the process from inside an actor", async () => {
  const system = System.make()
  let found: unknown
  const machine = setup({
    actors: { look: StateMachine.fromEffect(({ host }) => Effect.sync(() => void (found = host))) }
  }).createMachine({ invoke: { src: "look" } })
  const pid = StateMachine.start(system, machine)
  expect(found).toBe(pid)
  expect(StateMachine.hostOf(StateMachine.actor(pid).system)).toBe(pid)
  await System.stop(system)
})
