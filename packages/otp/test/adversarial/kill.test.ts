import { Effect } from "effect"
import { describe, expect, test } from "vitest"
import { setup } from "xstate"
import { Clock, GenServer, Process, StateMachine, Supervisor, System, Task } from "../../src/index.ts"
import type { Pid } from "../../src/index.ts"
import { hop } from "../double/hop.ts"
import { sleeper } from "../double/inProcess.ts"

const nothing = { processes: 0, fibers: 0, timers: 0, closing: 0 }

/** Counts what was acquired and released. */
class Ledger {
  acquired = 0
  released = 0

  /** Work with many places to be interrupted at, each holding something. */
  readonly work = Effect.gen({ self: this }, function* () {
    for (let step = 0; step < 6; step++) {
      yield* Effect.acquireRelease(
        Effect.sync(() => this.acquired++),
        () => Effect.yieldNow.pipe(Effect.andThen(Effect.sync(() => this.released++)))
      )
      yield* Effect.yieldNow
      yield* Effect.sleep(1)
    }
  }).pipe(Effect.scoped)
}

const machineOf = (work: Effect.Effect<void>) =>
  setup({ actors: { work: StateMachine.fromEffect(() => work) } }).createMachine({ invoke: { src: "work" } })

const serverOf = (work: Effect.Effect<void>) =>
  GenServer.make<void, null, never, never, "work">({
    init: () => GenServer.ok(null),
    handleCast: (_message, state) => work.pipe(Effect.as(GenServer.noreply(state)))
  })

const starts: ReadonlyArray<readonly [string, (system: System.System, work: Effect.Effect<void>) => Pid]> = [
  ["a process", (system, work) => Process.spawn(system, () => work)],
  ["a machine", (system, work) => StateMachine.start(system, machineOf(work))],
  [
    "a task of a process",
    (system, work) => {
      const owner = sleeper(system)
      Task.async(owner, () => work)
      return owner
    }
  ],
  [
    "a server",
    (system, work) => {
      const pid = GenServer.spawnLink(sleeper(system), serverOf(work), undefined)
      GenServer.cast(pid, "work")
      return pid
    }
  ]
]

const kills: ReadonlyArray<readonly [string, (pid: Pid) => void]> = [
  ["killed", (pid) => Process.kill(pid)],
  ["ended by a signal", (pid) => Process.exit(pid, "boom")],
  [
    "killed twice",
    (pid) => {
      Process.exit(pid, "boom")
      Process.kill(pid)
    }
  ]
]

describe.each(starts)("%s", (_kind, start) => {
  test.each(kills)("DEATH1 FIBER2 %s at any point of its work releases what it acquired, once", async (_how, end) => {
    for (let ticks = 0; ticks < 8; ticks++) {
      const clock = Clock.test()
      const system = System.make({ clock })
      const ledger = new Ledger()
      const pid = start(system, ledger.work)
      await clock.advance(ticks)
      end(pid)
      expect(Process.isAlive(pid)).toBe(false)
      await hop()
      expect([ticks, ledger.released]).toEqual([ticks, ledger.acquired])
      await System.stop(system)
      expect([System.stats(system), clock.pending]).toEqual([nothing, 0])
    }
  })
})

test("a supervisor killed at any point of a slow start, restart or stop leaves nothing", async () => {
  for (let ticks = 0; ticks < 30; ticks += 3) {
    const clock = Clock.test()
    const system = System.make({ clock })
    const slow = GenServer.make<void, null, never, never, "crash">({
      init: () => Effect.sleep(5).pipe(Effect.as(GenServer.ok(null))),
      handleCast: () => Process.exitSelf("boom"),
      terminate: () => Effect.sleep(5)
    })
    const pids: Array<Pid> = []
    const child = (id: string): Supervisor.ChildSpec => ({
      id,
      start: async (parent) => {
        const pid = await GenServer.startLink(parent, slow, undefined, { trapExit: true })
        pids.push(pid)
        if (pids.length === 2) GenServer.cast(pids[0] as GenServer.Server<never, never, "crash">, "crash")
        return pid
      }
    })
    const parent = sleeper(system)
    const starting = Supervisor.startLink(parent, { strategy: "oneForAll", children: ["a", "b"].map(child) })
    const outcome = starting.then(
      () => "up",
      () => "failed"
    )
    await clock.advance(ticks)
    const [supervisor] = [...System.processes(system)].filter((pid) => pid.label === "Supervisor")
    if (supervisor !== undefined) Process.kill(supervisor)
    await clock.advance(100)
    expect(["up", "failed"]).toContain(await outcome)
    expect([...System.processes(system)].filter((pid) => pid !== parent)).toEqual([])
    await System.stop(system)
    expect([System.stats(system), clock.pending]).toEqual([nothing, 0])
  }
})

test("PERF3 an answer or rejection that comes after the death is dropped, and is never unhandled", async () => {
  const system = System.make()
  const gates: Array<{ readonly resolve: () => void; readonly reject: (error: Error) => void }> = []
  const gate = () => new Promise<void>((resolve, reject) => gates.push({ resolve, reject }))
  const pids = [Process.spawn(system, gate), Process.spawn(system, gate)]
  await hop()
  for (const pid of pids) Process.exit(pid, "boom")
  gates[0]?.resolve()
  gates[1]?.reject(new Error("late"))
  await hop()
  expect(pids.map(Process.exitReason)).toEqual(["boom", "boom"])
  await System.stop(system)
})

test("a process that is killed by its own handler ends, and what the handler answers is dropped", async () => {
  const system = System.make()
  const definition = GenServer.make<void, null, "die", string>({
    init: () => GenServer.ok(null),
    handleCall: (_request, _from, state, self) => {
      Process.kill(self)
      return GenServer.replying("late", state)
    }
  })
  const pid = await GenServer.start(system, definition, undefined)
  await expect(GenServer.call(pid, "die")).rejects.toMatchObject({ reason: "killed" })
  await System.stop(system)
  expect(System.stats(system)).toEqual(nothing)
})

test("a machine that kills its own process from an action ends it, and its children with it", async () => {
  const system = System.make()
  const ledger = new Ledger()
  const started: { pid?: Pid } = {}
  const machine = setup({ actors: { work: StateMachine.fromEffect(() => ledger.work) } }).createMachine({
    invoke: { src: "work" },
    on: { die: { actions: () => started.pid !== undefined && Process.kill(started.pid) } }
  })
  const pid = StateMachine.start(system, machine)
  started.pid = pid
  Process.send(pid, { type: "die" })
  await hop()
  expect([Process.exitReason(pid), ledger.released]).toEqual(["killed", ledger.acquired])
  await System.stop(system)
  expect(System.stats(system)).toEqual(nothing)
})
