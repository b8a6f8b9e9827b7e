import { Context, Effect, Exit, Fiber, Layer } from "effect"
import type { Scope } from "effect"
import { expect, test, vi } from "vitest"
import { Clock, GenServer, OtpError, Process, Supervisor, System, Task } from "../../src/index.ts"
import type { Pid } from "../../src/index.ts"
import { bank } from "../double/bank.ts"
import { hop, until } from "../double/hop.ts"
import { sleeper } from "../double/inProcess.ts"

const nothing = { processes: 0, fibers: 0, timers: 0, closing: 0 }

const run = <A, E>(effect: Effect.Effect<A, E, System.System | Scope.Scope>): Promise<A> =>
  Effect.runPromise(effect.pipe(Effect.scoped, Effect.provide(System.layer())))

test("a layer's system is one system for all who ask, and is stopped when the layer's scope closes", async () => {
  const seen: Array<System.System> = []
  await run(
    Effect.gen(function* () {
      seen.push(yield* System.System, yield* System.System)
      yield* GenServer.scoped(bank(), undefined)
    })
  )
  const [first, second] = seen
  expect(first).toBe(second)
  expect(first === undefined ? undefined : System.stats(first)).toEqual(nothing)
  expect(() => first !== undefined && sleeper(first)).toThrow(OtpError.SystemStopped)
})

test("both faces are the same objects: a pid made on one is used on the other", async () => {
  const results = await run(
    Effect.gen(function* () {
      const system = yield* System.System
      const here = yield* GenServer.scoped(bank(), undefined)
      const there = yield* Effect.promise(() => GenServer.start(system, bank(), undefined))
      GenServer.cast(here, { add: 2 })
      GenServer.cast(there, { add: 3 })
      return [
        yield* Effect.promise(() => GenServer.call(here, "get")),
        yield* GenServer.callEffect(there, "get"),
        [...System.processes(system)].includes(here)
      ]
    })
  )
  expect(results).toEqual([2, 3, true])
})

test("SCOPED1 a server is ended with its scope as a supervisor ends a child", async () => {
  const log: Array<unknown> = []
  const polite = GenServer.make<void, null>({
    init: () => GenServer.ok(null),
    terminate: (reason) => log.push(reason)
  })
  await run(
    Effect.gen(function* () {
      const pid = yield* Effect.scoped(GenServer.scoped(polite, undefined, { trapExit: true }))
      log.push(Process.isAlive(pid), Process.exitReason(pid))
    })
  )
  expect(log).toEqual(["shutdown", false, "shutdown"])
})

test("SCOPED3 a scope closes in time of the host, also where the system's clock stands still", async () => {
  // The fake time begins at 0, and the clock of the host, which other tests use too, needs a time that never decreases.
  const startedMs = Math.ceil(performance.now())
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date", "performance"] })
  vi.advanceTimersByTime(startedMs)
  try {
    const system = System.make({ clock: Clock.test() })
    let ending = 0
    const stubborn = GenServer.make<void, null>({
      init: () => GenServer.ok(null),
      terminate: () => {
        ending++
        return new Promise(() => {})
      }
    })
    const children = [
      {
        id: "a",
        shutdown: "infinity" as const,
        start: (parent: Pid) => GenServer.startLink(parent, stubborn, undefined, { trapExit: true })
      }
    ]
    const closed: Array<string> = []
    const owned = <A, E>(name: string, effect: Effect.Effect<A, E, System.System | Scope.Scope>) =>
      void Effect.runPromise(effect.pipe(Effect.scoped, Effect.provideService(System.System, system))).then(() =>
        closed.push(name)
      )
    owned("server", GenServer.scoped(stubborn, undefined, { trapExit: true }))
    owned("supervisor", Supervisor.scoped({ children }))
    await until(() => ending === 2)
    await vi.advanceTimersByTimeAsync(4999)
    await hop()
    expect(closed).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    await until(() => closed.length > 0)
    await vi.advanceTimersByTimeAsync(4999)
    await hop()
    expect(closed).toEqual(["server"])
    await vi.advanceTimersByTimeAsync(1)
    await until(() => closed.length > 1)
    expect(closed).toEqual(["server", "supervisor"])
    const stopping = System.stop(system)
    await vi.advanceTimersByTimeAsync(20_000)
    await stopping
    expect(System.stats(system)).toEqual(nothing)
  } finally {
    vi.useRealTimers()
  }
})

test("a start in a stopped system fails with SystemStopped, on both faces", async () => {
  const system = System.make({ name: "over" })
  await System.stop(system)
  const stopped = expect.objectContaining({ _tag: "SystemStopped", name: "over" })
  await expect(GenServer.start(system, bank(), undefined)).rejects.toEqual(stopped)
  await expect(Supervisor.start(system, { children: [] })).rejects.toEqual(stopped)
  const starts: ReadonlyArray<Effect.Effect<Pid, OtpError.OtpError>> = [
    GenServer.startEffect(system, bank(), undefined),
    Supervisor.startEffect(system, { children: [] }),
    Effect.scoped(GenServer.scoped(bank(), undefined)).pipe(Effect.provideService(System.System, system))
  ]
  for (const start of starts) {
    const seen = await Effect.runPromise(Effect.catchTag(start, "SystemStopped", (error) => Effect.succeed(error)))
    expect(seen).toEqual(stopped)
  }
})

test("SCOPED1 a supervisor in a scope ends its children before itself", async () => {
  const log: Array<string> = []
  const child = (id: string) => ({
    id,
    start: (parent: Parameters<typeof Process.spawnLink>[0]) => {
      const pid = Process.spawnLink(parent, () => new Promise(() => {}))
      Process.onExit(pid, () => log.push(id))
      return pid
    }
  })
  await run(
    Effect.gen(function* () {
      const top = yield* Supervisor.scoped({ children: [child("a"), child("b")] })
      Process.onExit(top, () => log.push("top"))
      expect(yield* OtpError.effect(() => Supervisor.countChildren(top))).toMatchObject({ active: 2 })
    })
  )
  expect(log).toEqual(["b", "a", "top"])
})

test("a server is a service: its layer starts it once, and whoever needs it calls it", async () => {
  const Counter = Context.Service<GenServer.Server<"next", number>>("Counter")
  let starts = 0
  const counter = GenServer.make({
    init: () => GenServer.ok(starts++),
    handleCall: (_request: "next", _from, state) => GenServer.replying(state + 1, state + 1)
  })
  const layer = Layer.effect(Counter, GenServer.scoped(counter, undefined)).pipe(Layer.provide(System.layer()))
  const next = Effect.flatMap(Effect.service(Counter), (pid) => GenServer.callEffect(pid, "next"))
  expect(await Effect.runPromise(Effect.all([next, next]).pipe(Effect.provide(layer)))).toEqual([1, 2])
  expect(starts).toBe(1)
})

test("a start that fails is a typed failure", async () => {
  const failing = GenServer.make<void, null>({ init: () => GenServer.fail("config") })
  const ignoring = GenServer.make<void, null>({ init: () => GenServer.ignore() })
  const system = System.make()
  await GenServer.start(system, bank(), undefined, { name: "taken" })
  const reasons = await Effect.runPromise(
    Effect.all([
      Effect.flip(GenServer.startEffect(system, failing, undefined)),
      Effect.flip(GenServer.startEffect(system, ignoring, undefined)),
      Effect.flip(GenServer.startEffect(system, bank(), undefined, { name: "taken" }))
    ])
  )
  expect(reasons).toEqual([
    new OtpError.StartFailed({ reason: "config" }),
    new OtpError.StartIgnored(),
    expect.objectContaining({ reason: expect.objectContaining({ _tag: "AlreadyStarted" }) })
  ])
  await System.stop(system)
})

test("SCOPED2 a start that is interrupted leaves neither the server nor a timer", async () => {
  const clock = Clock.test()
  const system = System.make({ clock })
  const slow = GenServer.make<void, null>({ init: () => Effect.never })
  const fiber = Effect.runFork(GenServer.startEffect(system, slow, undefined, { timeout: "1 minute" }))
  await hop()
  expect(System.stats(system)).toMatchObject({ processes: 1, timers: 1 })
  await Effect.runPromise(Fiber.interrupt(fiber))
  expect(System.stats(system)).toEqual(nothing)

  const crowd = Supervisor.startEffect(system, {
    children: [
      { id: "up", start: (parent) => Process.spawnLink(parent, () => new Promise(() => {})) },
      { id: "never", start: (parent) => GenServer.startLink(parent, slow, undefined) }
    ]
  })
  const starting = Effect.runFork(crowd)
  await hop()
  expect(System.stats(system).processes).toBe(3)
  await Effect.runPromise(Fiber.interrupt(starting))
  expect(System.stats(system)).toEqual(nothing)
})

test("a start that takes too long is a typed failure, and its server is gone", async () => {
  const clock = Clock.test()
  const system = System.make({ clock })
  const slow = GenServer.make<void, null>({ init: () => new Promise(() => {}) })
  const exit = Effect.runPromiseExit(GenServer.startEffect(system, slow, undefined, { timeout: 10 }))
  await clock.advance(10)
  expect(await exit).toEqual(Exit.fail(new OtpError.StartFailed({ reason: "timeout" })))
  expect(System.stats(system)).toEqual(nothing)
})

test("interrupting a wait for a task ends the wait only: the task can be waited for again", async () => {
  const system = System.make()
  const gate = Promise.withResolvers<number>()
  const owner = sleeper(system)
  const task = Task.async(owner, () => gate.promise)
  const fiber = Effect.runFork(Task.awaitEffect(task, { timeout: "infinity" }))
  await hop()
  await Effect.runPromise(Fiber.interrupt(fiber))
  gate.resolve(7)
  expect(await Effect.runPromise(Task.awaitEffect(task))).toBe(7)
  expect(Process.info(owner)?.queueLength).toBe(0)
  const stranger = Task.awaitEffect(task, { from: sleeper(system) })
  expect(await Effect.runPromise(Effect.flip(stranger))).toEqual(new OtpError.NotTheOwner({ owner }))
  await System.stop(system)
})

test("a wait for a task fails with its exit, or when its time is up", async () => {
  const clock = Clock.test()
  const system = System.make({ clock })
  const owner = sleeper(system)
  Process.trapExit(owner, true)
  const crashing = Task.async(owner, () => Process.exitSelf("boom"))
  expect(await Effect.runPromise(Effect.flip(Task.awaitEffect(crashing)))).toMatchObject({ reason: "boom" })
  const late = Effect.runPromise(
    Effect.flip(
      Task.awaitEffect(
        Task.async(owner, () => Effect.never),
        { timeout: 10 }
      )
    )
  )
  await clock.advance(10)
  expect(await late).toMatchObject({ _tag: "CallExit", reason: "timeout" })
  Process.kill(owner)
  await System.stop(system)
})

test("a promise's errors are failures where they are ours, thrown or rejected, and defects where they are not", async () => {
  const system = System.make()
  const foreign = new Error("foreign")
  const exits = await Promise.all(
    [
      () => GenServer.stop(Process.named(system, "nobody")),
      () => {
        throw new OtpError.UnknownName({ name: "nobody" })
      },
      () => Promise.reject(foreign),
      () => Promise.resolve(1)
    ].map((make) => Effect.runPromiseExit(OtpError.effect<unknown>(make)))
  )
  expect(exits).toEqual([
    Exit.fail(new OtpError.CallExit({ reason: "noproc", in: "GenServer.stop" })),
    Exit.fail(new OtpError.UnknownName({ name: "nobody" })),
    Exit.die(foreign),
    Exit.succeed(1)
  ])
  await System.stop(system)
})

test("a fiber goes on as nobody after a call, and as its own process after a receive", async () => {
  const system = System.make()
  const pid = await GenServer.start(system, bank(), undefined)
  const twice = Effect.all([GenServer.callEffect(pid, "get"), GenServer.callEffect(pid, "get")])
  expect(await Effect.runPromise(twice)).toEqual([0, 0])
  const parents: Array<unknown> = []
  const receiver = Process.spawn<string>(system, (self) =>
    Effect.flatMap(Process.receiveEffect(self), () =>
      Effect.sync(() => parents.push(Process.info(Process.spawn(system, () => new Promise(() => {})))?.parent))
    )
  )
  await hop()
  Process.spawn(system, () => Process.send(receiver, "go"))
  await hop()
  expect(parents).toEqual([receiver])
  await System.stop(system)
})
