/** Random machines in processes that host them, against XState's actors. */
import { expect, onTestFinished, test, vi } from "vitest"
import { type AnyMachineSnapshot, createActor, SimulatedClock, type Snapshot } from "xstate"
import { Clock, Process, StateMachine, System } from "../../../src/index.ts"
import { events, numbers, randomMachine } from "../chart/randomMachine.ts"
import { hop } from "../../double/hop.ts"
import { seedsOf } from "../../../../../tooling/verify/volume.ts"

const shown = ({ status, value, context, output, children }: AnyMachineSnapshot): string =>
  JSON.stringify({ status, value, context, output, children: status === "active" ? Object.keys(children) : [] })

test.each([
  {
    title: "CPROC1, CPROC2 random machines do the same in a process as under `createActor`, delays included",
    stored: false
  },
  { title: "PERSIST1, PERSIST2 and so they do if they are stored and started again at random points", stored: true }
])("$title", async ({ stored }) => {
  // XState warns of events to actors that have ended.
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {})
  onTestFinished(() => warn.mockRestore())
  let [timed, ended] = [0, 0]
  const seeds = seedsOf(100)
  for (const seed of seeds) {
    const machine = StateMachine.hosted(randomMachine(seed))
    const pick = numbers(seed * 7)
    const clock = Clock.test()
    let system = System.make({ clock })
    let pid = StateMachine.start(system, machine, { input: seed, strict: seed % 2 === 0 })
    const simulated = new SimulatedClock()
    const actor = createActor(machine, { input: seed, clock: simulated })
    actor.subscribe({ error: () => {} })
    actor.start()
    for (let step = 0; step < 12; step++) {
      if (pick(3) === 0) {
        const ms = 1 + pick(12)
        timed += System.stats(system).timers
        // XState's clock jumps to its new time before it calls what is due.
        for (let passed = 0; passed < ms; passed++) {
          simulated.increment(1)
          await clock.advance(1)
        }
      } else if (Process.isAlive(pid)) {
        const event = { type: events[pick(events.length)] ?? "a", by: pick(4) }
        actor.send(event)
        Process.send(pid, event)
      }
      await hop()
      if (stored && Process.isAlive(pid) && pick(2) === 0) {
        const snapshot = JSON.parse(JSON.stringify(StateMachine.persisted(pid))) as Snapshot<unknown>
        await System.stop(system)
        system = System.make({ clock })
        pid = StateMachine.start(system, machine, { snapshot })
      }
      const snapshot = StateMachine.snapshot(pid) as AnyMachineSnapshot
      expect(shown(snapshot)).toBe(shown(actor.getSnapshot() as AnyMachineSnapshot))
    }
    if (!Process.isAlive(pid)) ended++
    actor.stop()
    await System.stop(system)
    expect(System.stats(system)).toEqual({ processes: 0, fibers: 0, timers: 0, closing: 0 })
  }
  expect(timed).toBeGreaterThan(0.3 * seeds.length)
  // A fifth of the machines may have none that ends; four fifths have some.
  expect(ended).toBeGreaterThan(seeds.length > 50 ? 0 : -1)
})
