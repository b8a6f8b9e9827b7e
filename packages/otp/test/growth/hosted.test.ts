import { expect, test } from "vitest"
import { type EventObject, setup } from "xstate"
import { Process, StateMachine, System } from "../../src/index.ts"
import type { Pid } from "../../src/index.ts"
import { until } from "../double/hop.ts"
import { dearer } from "./cost.ts"

const { assign, effect, fromCallback, hosted, spawnChild } = StateMachine

/** Sends so many events to a machine and waits until they are handled. */
const handling = (pid: StateMachine.MachinePid<never>, count: number) => ({
  run: () => {
    for (let index = 0; index < count; index++) Process.send(pid as Pid<EventObject>, { type: "go" })
    return until(() => Process.info(pid)?.queueLength === 0)
  }
})

const withChildren = hosted(
  setup({
    types: { context: {} as { readonly n: number }, events: {} as EventObject & { readonly id?: string } },
    actors: { idle: fromCallback<unknown>(() => {}) },
    actions: {
      spawn: spawnChild("idle", { id: ({ event }) => event.id ?? "" }),
      add: assign(({ context }) => ({ n: context.n + 1 })),
      effect: effect<undefined>(() => {})
    }
  }).createMachine({
    context: { n: 0 },
    on: { spawn: { actions: "spawn" }, go: { actions: ["add", "effect"] } }
  })
)

test("a transition costs the same however many children run", async () => {
  const system = System.make()
  const [few, many] = [1, 3000].map((count) => {
    const pid = StateMachine.start(system, withChildren)
    for (let index = 0; index < count; index++) Process.send(pid, { type: "spawn", id: `c${index}` })
    return pid
  })
  await until(() => [few, many].every((pid) => pid !== undefined && Process.info(pid)?.queueLength === 0))
  const cost = await dearer(7, handling(many as never, 20_000), handling(few as never, 20_000))
  expect(cost).toBeLessThan(3)
  await System.stop(system)
})

const withStates = (count: number) =>
  hosted(
    setup({ types: { events: {} as EventObject } }).createMachine({
      initial: "s0",
      states: Object.fromEntries(
        Array.from({ length: count }, (_, index) => [`s${index}`, { on: { go: `s${(index + 1) % count}` } }])
      )
    })
  )

test("a transition costs the same however many states there are", async () => {
  const system = System.make()
  const [few, many] = [3, 300].map((count) => StateMachine.start(system, withStates(count)))
  const cost = await dearer(7, handling(many as never, 20_000), handling(few as never, 20_000))
  expect(cost).toBeLessThan(3)
  await System.stop(system)
})

test("a machine spawns and stops children at a cost that grows with their number, and no faster", async () => {
  const spawning = (count: number) => ({
    run: async () => {
      const system = System.make()
      const pid = StateMachine.start(system, withChildren)
      for (let index = 0; index < count; index++) Process.send(pid, { type: "spawn", id: `c${index}` })
      await until(() => Process.info(pid)?.queueLength === 0)
      Process.kill(pid)
      await System.stop(system)
    }
  })
  // Four times as many children: a cost that grows with the square of their number would be sixteen times as high.
  expect(await dearer(5, spawning(32_000), spawning(8_000))).toBeLessThan(12)
})
