import { expect, test } from "vitest"
import { DynamicSupervisor, GenServer, Process, Supervisor, System } from "../../src/index.ts"
import type { Pid } from "../../src/index.ts"
import { hop, until } from "../double/hop.ts"
import { dearer } from "./cost.ts"
import type { Measured } from "./cost.ts"

const few = 10_000
/** Ten times as many children: ten times the time if it is linear, a hundred times if it is quadratic. */
const bound = 40

const passive = GenServer.make<void, null>({ init: () => GenServer.ok(null) })

const child = (index: number): Supervisor.ChildSpec => ({
  id: `child ${index}`,
  start: (parent) => GenServer.spawnLink(parent, passive, undefined)
})

const restartOne = async (system: System.System, count: number): Promise<void> => {
  const pids = [...System.processes(system)]
  const victim = pids[pids.length >> 1]
  if (victim !== undefined) Process.kill(victim)
  await until(() => System.stats(system).processes === count + 1)
}

/** Starts so many children, restarts one, and stops. */
const life = (count: number, start: (system: System.System) => Promise<Pid>): Measured => ({
  run: async () => {
    const system = System.make()
    const supervisor = await start(system)
    expect(System.stats(system).processes).toBe(count + 1)
    await restartOne(system, count)
    await Supervisor.stop(supervisor)
    await System.stop(system)
    expect(System.stats(system).processes).toBe(0)
  }
})

const started = (count: number): Measured =>
  life(count, (system) => Supervisor.start(system, { children: Array.from({ length: count }, (_, at) => child(at)) }))

const added = (count: number): Measured =>
  life(count, async (system) => {
    const supervisor = await Supervisor.start(system, { children: [] })
    await Promise.all(Array.from({ length: count }, (_, at) => Supervisor.startChild(supervisor, child(at))))
    return supervisor
  })

const dynamic = (count: number): Measured =>
  life(count, async (system) => {
    const supervisor = await DynamicSupervisor.start(system)
    await Promise.all(Array.from({ length: count }, (_, at) => DynamicSupervisor.startChild(supervisor, child(at))))
    return supervisor
  })

test.each([
  ["a supervisor that is started with 100,000 children", started],
  ["a supervisor that is given 100,000 children", added],
  ["a dynamic supervisor with 100,000 children", dynamic]
])("KIDS3 %s starts, restarts one and stops in linear time", async (_what, make) => {
  await hop()
  expect(await dearer(1, make(few * 10), make(few))).toBeLessThan(bound)
})

test.each(["oneForOne", "oneForAll", "restForOne"] as const)(
  "KIDS3 temporary children of a supervisor with %s end in linear time",
  async (strategy) => {
    const mayflies = (count: number): Measured => ({
      run: async () => {
        const system = System.make()
        const children = Array.from({ length: count }, (_, at) => ({ ...child(at), restart: "temporary" as const }))
        const supervisor = await Supervisor.start(system, { strategy, children })
        for (const pid of [...System.processes(system)].slice(1)) Process.kill(pid)
        expect(await Supervisor.countChildren(supervisor)).toMatchObject({ specs: 0 })
        await System.stop(system)
      }
    })
    // Four times as many: a cost that grows with the square of their number would be sixteen times as high.
    expect(await dearer(3, mayflies(32_000), mayflies(8_000))).toBeLessThan(12)
  }
)

test("WINDOW1 many restarts cost the same each, however many the window has seen", async () => {
  const restarts = (count: number): Measured => ({
    run: async () => {
      const system = System.make()
      const limit = { maxRestarts: Number.POSITIVE_INFINITY, maxSeconds: 3600 }
      const supervisor = await Supervisor.start(system, { children: [child(0)], ...limit })
      for (let index = 0; index < count; index++) {
        const [info] = await Supervisor.whichChildren(supervisor)
        if (typeof info?.pid === "object") Process.kill(info.pid)
      }
      await System.stop(system)
    }
  })
  expect(await dearer(2, restarts(20_000), restarts(2_000))).toBeLessThan(bound)
})
