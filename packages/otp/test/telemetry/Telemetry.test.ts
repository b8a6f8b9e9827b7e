import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { Effect, Fiber } from "effect"
import { Clock, GenServer, Process, StateMachine, Supervisor, System, Telemetry } from "../../src/index.ts"
import { setup } from "xstate"
import { bank } from "../double/bank.ts"
import { hop, until as waitUntil } from "../double/hop.ts"
import { sleeper } from "../double/inProcess.ts"
import { Crew } from "../double/worker.ts"

let system: System.System

beforeEach(() => {
  system = System.make()
})

afterEach(() => System.stop(system))

/** Everything a selector gets, as it comes. */
const callUser = <S extends Telemetry.Selector>(selector: S): Array<Telemetry.Event<Telemetry.Selected<S>>> => {
  const events: Array<Telemetry.Event<Telemetry.Selected<S>>> = []
  Telemetry.attach(system, selector, (event) => events.push(event))
  return events
}

/** The host's monotonic time, in milliseconds, of the tests that hold the thread: a busy machine adds nothing to it. */
let hostTime = 0

/** Holds the thread for so many milliseconds of `hostTime`. */
const hold = (ms: number): void => {
  hostTime += ms
}

describe("attach", () => {
  test("a name selects its event, a prefix those below it, a star all", () => {
    const [named, prefixed, all] = [callUser("process.exit"), callUser("process"), callUser("*")]
    Process.kill(sleeper(system))
    Process.send(sleeper(system), "mail")
    Process.exit(
      Process.spawn(system, () => {}),
      "shutdown"
    )
    expect(named.map((event) => event.name)).toEqual(["process.exit", "process.exit"])
    expect(new Set(prefixed.map((event) => event.name))).toEqual(
      new Set(["process.spawn", "process.exit", "process.message"])
    )
    expect(all.length).toBe(prefixed.length)
  })

  test("a detached handler is not called again, however often it is detached", () => {
    const seen: Array<string> = []
    const detach = Telemetry.attach(system, "process.spawn", (event) => seen.push(event.metadata.label))
    sleeper(system, "first")
    detach()
    const again = Telemetry.attach(system, "process.spawn", (event) => seen.push(event.metadata.label))
    detach()
    sleeper(system, "second")
    again()
    sleeper(system, "third")
    expect(seen).toEqual(["first", "second"])
  })

  test("systems are watched apart", async () => {
    const other = System.make()
    const events = callUser("*")
    Process.kill(sleeper(other))
    expect(events).toEqual([])
    await System.stop(other)
  })

  test("WATCH2 a handler that throws is detached, reported, and hurts neither processes nor other handlers", async () => {
    const crashes: Array<unknown> = []
    const loud = System.make({ onCrash: (report) => crashes.push([report.ended, report.reason]) })
    const failures: Array<unknown> = []
    const spawned: Array<string> = []
    Telemetry.attach(loud, "telemetry.failure", ({ metadata }) => failures.push(metadata))
    const error = new Error("handler")
    Telemetry.attach(loud, "process", () => {
      throw error
    })
    Telemetry.attach(loud, "process.spawn", (event) => spawned.push(event.metadata.label))
    const pid = await GenServer.start(loud, bank(), undefined)
    expect(await GenServer.call(pid, "get")).toBe(0)
    expect(failures).toEqual([{ selector: "process", error }])
    expect(crashes).toEqual([[false, error]])
    expect(spawned).toEqual(["bank"])
    await System.stop(loud)
  })

  test("WATCH4 a handler is not called for events that it causes itself", () => {
    const pid = sleeper(system)
    const seen: Array<unknown> = []
    Telemetry.attach(system, "process.message", ({ metadata }) => {
      seen.push(metadata.message)
      Process.send(pid, "caused")
    })
    Process.send(pid, "sent")
    expect([seen, Process.info(pid)?.queueLength]).toEqual([["sent"], 2])
  })

  test("a handler of failures that throws is detached like any other", () => {
    let calls = 0
    const boom = (): never => {
      calls++
      throw new Error("again")
    }
    Telemetry.attach(system, "telemetry", boom)
    Telemetry.attach(system, "process.spawn", boom)
    sleeper(system)
    sleeper(system)
    expect(calls).toBe(2)
  })
})

describe("events", () => {
  test("process.spawn and process.exit have who, of whom, why, and what was dropped", () => {
    const events = callUser("process")
    const parent = sleeper(system, "parent")
    const child = Process.spawnLink(parent, () => {}, { label: "child" })
    Process.send(child, 1)
    Process.exit(child, "boom")
    const notified = events.filter((event) => event.name !== "process.message")
    expect(notified.map(({ name, measurements, metadata }) => [name, metadata.label, measurements])).toEqual([
      ["process.spawn", "parent", { processes: 1 }],
      ["process.spawn", "child", { processes: 2 }],
      ["process.exit", "child", { processes: 1, dropped: 1 }],
      ["process.exit", "parent", { processes: 0, dropped: 0 }]
    ])
    expect(notified[1]?.metadata).toEqual({ pid: child, label: "child", kind: "process", parent })
    expect(notified[2]?.metadata).toEqual({
      pid: child,
      label: "child",
      kind: "process",
      reason: "boom",
      abnormal: true
    })
  })

  test("events bear the time of the system's clock", async () => {
    const clock = Clock.test()
    const timed = System.make({ clock })
    const at: Array<number> = []
    Telemetry.attach(timed, "process.spawn", (event) => at.push(event.at))
    sleeper(timed)
    await clock.advance(1500)
    sleeper(timed)
    expect(at).toEqual([0, 1500])
    await System.stop(timed)
  })

  test("process.crash carries the report, for an end nobody asked for only", async () => {
    const events = callUser("process.crash")
    const crashing = await GenServer.start(system, bank(), undefined)
    Process.kill(sleeper(system))
    GenServer.cast(crashing, { fail: new Error("boom") })
    await hop()
    expect(events.map(({ metadata }) => [metadata.pid, metadata.report.message])).toEqual([
      [crashing, `bank ${crashing} ended: Error: boom`]
    ])
  })

  test("process.message has the length of the queue with each message", () => {
    const pid = sleeper(system)
    const events = callUser("process.message")
    for (const message of ["a", "b", "c"]) Process.send(pid, message)
    expect(events.map(({ metadata, measurements }) => [metadata.message, measurements.queueLength])).toEqual([
      ["a", 1],
      ["b", 2],
      ["c", 3]
    ])
  })

  test("process.handled has the request and its time, of a waiting handler once the answer is there", async () => {
    const pid = await GenServer.start(system, bank(), undefined)
    const events = callUser("process.handled")
    GenServer.cast(pid, { add: 1 })
    await GenServer.call(pid, "get")
    await GenServer.call(pid, "promise")
    await GenServer.call(pid, "effect")
    await hop()
    expect(events.map(({ metadata }) => metadata.message)).toEqual([{ add: 1 }, "get", "promise", "effect"])
    for (const { measurements } of events) {
      expect(measurements.blocking).toBeGreaterThanOrEqual(0)
      expect(measurements.duration).toBeGreaterThanOrEqual(measurements.blocking)
    }
  })

  test("process.handled is emitted for machines too", async () => {
    const machine = setup({}).createMachine({ initial: "a", states: { a: { on: { go: "b" } }, b: {} } })
    const pid = StateMachine.start(system, machine, { label: "m" })
    const events = callUser("process.handled")
    Process.send(pid, { type: "go" })
    await hop()
    expect(events.map(({ metadata }) => [metadata.kind, metadata.message])).toEqual([["machine", { type: "go" }]])
  })

  test("supervisor.restart and supervisor.escalation have the child and the count", async () => {
    const events = callUser("supervisor")
    const crew = new Crew()
    const top = await Supervisor.start(system, { children: [crew.spec("a")], maxRestarts: 1, label: "top" })
    crew.stop("a", "boom")
    await hop()
    crew.stop("a", "boom")
    await hop()
    const metadata = { pid: top, label: "top", kind: "supervisor", id: "a" }
    expect(events.map((event) => [event.name, event.measurements, event.metadata])).toEqual([
      ["supervisor.restart", { restarts: 1 }, metadata],
      ["supervisor.escalation", { restarts: 2, limit: 1 }, metadata]
    ])
  })
})

/** The events of a program that builds on processes. */
const tellMade = (event: "made.one" | "made.two", size: number): void =>
  (Telemetry.notify as unknown as (of: System.System, name: string, measurements: object, metadata: object) => void)(
    system,
    event,
    { size },
    { by: "test" }
  )

describe("events of what is built on processes", () => {
  test("call handlers of their name, their prefix or all, and no others", () => {
    const seen: Array<string> = []
    const attach = (selector: string) =>
      Telemetry.attach(system, selector as "*", ({ name, measurements }) =>
        seen.push(`${selector}: ${name} ${JSON.stringify(measurements)}`)
      )
    tellMade("made.one", 0)
    const detach = ["made.one", "made", "*", "process", "mad"].map(attach)
    tellMade("made.one", 1)
    tellMade("made.two", 2)
    expect(seen).toEqual([
      'made.one: made.one {"size":1}',
      'made: made.one {"size":1}',
      '*: made.one {"size":1}',
      'made: made.two {"size":2}',
      '*: made.two {"size":2}'
    ])
    for (const one of detach) one()
    tellMade("made.one", 3)
    expect(seen).toHaveLength(5)
  })

  test("a handler that throws is detached, and the others are called", () => {
    const seen: Array<unknown> = []
    const failures = callUser("telemetry.failure")
    Telemetry.attach(system, "made" as "*", () => {
      throw new Error("no")
    })
    Telemetry.attach(system, "made" as "*", ({ at }) => seen.push(at))
    tellMade("made.one", 1)
    tellMade("made.one", 2)
    expect(seen).toHaveLength(2)
    expect(failures).toHaveLength(1)
  })
})

describe("a callback that holds the thread", () => {
  beforeEach(() => {
    hostTime = 1_000
    vi.spyOn(performance, "now").mockImplementation(() => hostTime)
  })

  afterEach(() => vi.restoreAllMocks())

  const holding = GenServer.make<number, number, number, string>({
    init: (ms) => {
      hold(ms)
      return GenServer.ok(0)
    },
    handleCall: (ms, _from, state) => {
      hold(ms)
      return GenServer.replying("done", state)
    }
  })

  test("is reported with its process and its message, from the threshold on", async () => {
    const blocked: Array<System.BlockedReport> = []
    const watched = System.make({ blockedAfter: 20, onBlocked: (report) => blocked.push(report) })
    const pid = await GenServer.start(watched, holding, 0, { label: "holding" })
    await GenServer.call(pid, 0)
    await GenServer.call(pid, 25)
    expect(blocked.map(({ pid: who, label, message, threshold }) => [who, label, message, threshold])).toEqual([
      [pid, "holding", 25, 20]
    ])
    expect(blocked[0]?.blocking).toBeGreaterThanOrEqual(20)
    await System.stop(watched)
  })

  describe("after it first waited", () => {
    const step = (ms: number) =>
      Effect.andThen(
        Effect.promise(() => Promise.resolve()),
        Effect.sync(() => hold(ms))
      )
    const effectful = GenServer.make({
      init: () => GenServer.ok(0),
      handleCall: (ms: number, _from, state) => Effect.as(step(ms), GenServer.replying("done", state))
    })
    const shown = (events: ReadonlyArray<Telemetry.Event<"process.blocked">>) =>
      events.map(({ metadata, measurements }) => [metadata.pid, metadata.message, measurements.blocking >= 20])
    const watching = (blockedAfter = 20) => {
      const events: Array<Telemetry.Event<"process.blocked">> = []
      const watched = System.make({ blockedAfter })
      const detach = Telemetry.attach(watched, "process.blocked", (event) => events.push(event))
      return { events, watched, detach }
    }

    test("FTIME1 is reported once with all it held, where it is an effect", async () => {
      const { events, watched } = watching()
      const pid = await GenServer.start(watched, effectful, undefined)
      await GenServer.call(pid, 1)
      await GenServer.call(pid, 25)
      await hop()
      expect(shown(events)).toEqual([[pid, 25, true]])
      const many = Process.spawn(watched, () =>
        Effect.andThen(
          Effect.promise(() => Promise.resolve()),
          Effect.forEach([9, 9, 9, 9], (ms) => Effect.sync(() => hold(ms)))
        )
      )
      await hop()
      expect(shown(events.slice(1))).toEqual([[many, undefined, true]])
      expect(events[1]?.measurements.blocking).toBeGreaterThanOrEqual(36)
      await System.stop(watched)
    })

    test("SENS1 is reported without its message, where the process is sensitive", async () => {
      const { events, watched } = watching()
      const pid = await GenServer.start(watched, effectful, undefined)
      Process.flag(pid, "sensitive", true)
      await GenServer.call(pid, 25)
      await hop()
      expect(shown(events)).toEqual([[pid, undefined, true]])
      await System.stop(watched)
    })

    test("FTIME1 waits between its steps are not part of what it held", async () => {
      const { events, watched } = watching(200)
      let steps = 0
      Process.spawn(watched, () =>
        Effect.forEach([50, 50, 50, 50, 50], (ms) => Effect.tap(step(ms), () => Effect.sync(() => steps++)))
      )
      await waitUntil(() => steps === 5)
      expect(events).toEqual([])
      await System.stop(watched)
    })

    test("FTIME1 is reported for what a wait begins with, for child fibers, and for the effects a machine invokes", async () => {
      const { events, watched } = watching()
      const waiting = Process.spawn(watched, () =>
        Effect.andThen(
          step(0),
          Effect.promise(async () => hold(25))
        )
      )
      const forking = Process.spawn(watched, () => Effect.flatMap(Effect.forkChild(step(25)), Fiber.join))
      const machine = setup({ actors: { work: StateMachine.fromEffect(() => step(25)) } }).createMachine({
        invoke: { id: "work", src: "work" }
      })
      const { work } = StateMachine.snapshot(StateMachine.start(watched, machine)).children
      const invoked = work && StateMachine.pidOf(work)
      await hop()
      expect(new Set(shown(events).map(([pid]) => pid))).toEqual(new Set([waiting, forking, invoked]))
      expect(events.length).toBe(3)
      await System.stop(watched)
    })

    test("FTIME2 is reported once where an effect holds the thread before it waits", async () => {
      const { events, watched } = watching()
      const pid = Process.spawn(watched, () =>
        Effect.andThen(
          Effect.sync(() => hold(25)),
          step(0)
        )
      )
      await hop()
      expect(shown(events)).toEqual([[pid, undefined, true]])
      await System.stop(watched)
    })

    test("STRETCH1 is not blamed on the process whose message it waited for", async () => {
      const { events, watched } = watching()
      const receiver = Process.spawn<string>(watched, (self) =>
        Effect.andThen(
          Process.receiveEffect(self),
          Effect.sync(() => hold(25))
        )
      )
      await hop()
      Process.spawn(watched, () => Process.send(receiver, "go"))
      await hop()
      expect(shown(events)).toEqual([[receiver, "go", true]])
      await System.stop(watched)
    })

    test("is reported no more once nobody listens", async () => {
      const { events, watched, detach } = watching()
      const gate = Promise.withResolvers<void>()
      Process.spawn(watched, () =>
        Effect.andThen(
          Effect.promise(() => gate.promise),
          Effect.sync(() => hold(25))
        )
      )
      await hop()
      detach()
      gate.resolve()
      await hop()
      expect(events).toEqual([])
      await System.stop(watched)
    })
  })

  test("is reported where it is the start of a process", async () => {
    const events = callUser("process.blocked")
    await GenServer.start(system, holding, 55)
    expect(events.map(({ metadata }) => metadata.message)).toEqual([undefined])
  })

  test("holds up the others for its own message only: a flood to one process starves no other", async () => {
    const order: Array<string> = []
    const slow = GenServer.make<void, null, never, never, never, number>({
      init: () => GenServer.ok(null),
      handleInfo: () => void order.push("slow")
    })
    const quick = GenServer.make<void, null, "ping", string>({
      init: () => GenServer.ok(null),
      handleCall: (_request, _from, state) => {
        order.push("quick")
        return GenServer.replying("pong", state)
      }
    })
    const [flooded, other] = [
      await GenServer.start(system, slow, undefined),
      await GenServer.start(system, quick, undefined)
    ]
    for (let index = 0; index < 10_000; index++) Process.send(flooded, index)
    await GenServer.call(other, "ping")
    expect(order.indexOf("quick")).toBeLessThanOrEqual(64)
    await hop()
  })
})
