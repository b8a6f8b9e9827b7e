import { Effect, Scope } from "effect"
import { expect, test } from "vitest"
import { Clock, DynamicSupervisor, Process, Supervisor, System, Timer } from "../../src/index.ts"
import type { Pid } from "../../src/index.ts"
import { hop } from "../double/hop.ts"

const child = (name: string, finalizer: Effect.Effect<unknown>) => ({
  id: name,
  start: (parent: Pid) => {
    const pid = Process.spawnLink(parent, () => Effect.never, { name })
    Effect.runSync(Scope.addFinalizer(Process.scope(pid), finalizer))
    return pid
  }
})

const living = (system: System.System, name: string): Pid => {
  const pid = Process.whereis(system, name)
  if (pid === undefined) throw new Error(`nobody is called ${name}`)
  return pid
}

test("DEATH4 a finalizer that stalls delays no other process's end, finalizer or restart", async () => {
  const system = System.make()
  const done: Array<string> = []
  const notified: Array<string> = []
  await Supervisor.start(system, {
    strategy: "oneForAll",
    children: [
      child(
        "first",
        Effect.sync(() => done.push("first"))
      ),
      child("stalled", Effect.never),
      child(
        "last",
        Effect.sync(() => done.push("last"))
      )
    ]
  })
  const before = ["first", "stalled", "last"].map((name) => living(system, name))
  for (const pid of before) Process.onExit(pid, () => notified.push(Process.info(pid)?.label ?? "dead"))
  Process.kill(living(system, "stalled"))
  await hop()
  expect(notified).toEqual(["dead", "dead", "dead"])
  expect(done).toEqual(["last", "first"])
  expect(System.stats(system)).toMatchObject({ processes: 4, closing: 1 })
  for (const [index, name] of ["first", "stalled", "last"].entries()) {
    expect(living(system, name)).not.toBe(before[index])
  }
  await System.stop(system, { timeout: 5 })
  expect(done).toEqual(["last", "first", "last", "first"])
})

test("DEATH4 a supervisor whose children's finalizers all stall ends at once, and so does the next one", async () => {
  const clock = Clock.test()
  const system = System.make({ clock })
  const supervisors = [await DynamicSupervisor.start(system), await DynamicSupervisor.start(system)]
  for (const [index, supervisor] of supervisors.entries()) {
    for (let made = 0; made < 10; made++) {
      await DynamicSupervisor.startChild(supervisor, child(`${index} ${made}`, Effect.never))
    }
  }
  for (const supervisor of supervisors) await DynamicSupervisor.stop(supervisor)
  expect([clock.now(), System.stats(system)]).toMatchObject([0, { processes: 0, timers: 0 }])
  await System.stop(system, { timeout: 5 })
})

test("DEATH4 what cannot be closed is reported, and leaves what else the process holds to be closed", async () => {
  const inner = Clock.test()
  const clock: Clock.Clock = {
    now: () => inner.now(),
    setTimeout: (run, ms) => inner.setTimeout(run, ms),
    clearTimeout: () => {
      throw new Error("broken clock")
    }
  }
  const reports: Array<unknown> = []
  const system = System.make({ clock, onCrash: ({ reason }) => reports.push(reason) })
  const closed: Array<string> = []
  const pid = Process.spawn(system, () =>
    Effect.never.pipe(Effect.onInterrupt(() => Effect.sync(() => closed.push("fiber"))))
  )
  await hop()
  Process.abortSignal(pid).addEventListener("abort", () => closed.push("signal"))
  Timer.sendAfter(pid, "late", 1_000)
  Process.kill(pid)
  await hop()
  expect(closed).toEqual(["signal", "fiber"])
  expect(reports).toMatchObject([{ message: "broken clock" }])
  await System.stop(system)
})
