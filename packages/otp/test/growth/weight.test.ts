/** What processes and actors weigh. */
import { expect, test } from "vitest"
import type { AnyActorRef } from "xstate"
import { createActor, fromCallback, setup } from "xstate"
import { GenServer, Process, StateMachine, System } from "../../src/index.ts"
import { hop } from "../double/hop.ts"
import { sleeper } from "../double/inProcess.ts"

const collect = (): number => {
  globalThis.gc?.()
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

/** Bytes per thing that `make` makes and keeps. */
const weigh = async (count: number, make: () => unknown): Promise<number> => {
  for (let index = 0; index < 100; index++) make()
  const kept: Array<unknown> = Array.from({ length: count }, () => undefined)
  await hop()
  const before = collect()
  for (let index = 0; index < count; index++) kept[index] = make()
  await hop()
  const after = collect()
  expect(kept.length).toBe(count)
  return (after - before) / count
}

const counter = GenServer.make<void, number, "next", number, never, number>({
  init: () => GenServer.ok(0),
  handleCall: (_request, _from, state) => GenServer.replying(state + 1, state + 1)
})

test("an idle server weighs less than 500 bytes", async () => {
  const system = System.make()
  const parent = sleeper(system)
  expect(await weigh(20_000, () => GenServer.spawnLink(parent, counter, undefined))).toBeLessThan(500)
  await System.stop(system)
})

test("a process that waits in a receive weighs less than 1 kB", async () => {
  const system = System.make()
  const body = (self: Parameters<typeof Process.receive>[0]) => Process.receive(self)
  expect(await weigh(20_000, () => Process.spawn(system, body))).toBeLessThan(1024)
  await System.stop(system)
})

test("an idle hosted machine with a callback actor weighs less than 1 kB", async () => {
  const system = System.make()
  const machine = StateMachine.hosted(
    setup({ actors: { idle: StateMachine.fromCallback<unknown>(() => {}) } }).createMachine({ invoke: { src: "idle" } })
  )
  expect(await weigh(10_000, () => StateMachine.start(system, machine))).toBeLessThan(1024)
  await System.stop(system)
})

test("an idle actor of a machine weighs less than 1 kB more than XState's own", async () => {
  const idle = fromCallback(() => {})
  const parent = createActor(setup({}).createMachine({})).start()
  const system = System.make()
  const host = StateMachine.actor(StateMachine.start(system, setup({}).createMachine({})))
  const spawn = (self: AnyActorRef) => {
    const made = createActor(idle, { parent: self })
    made.start()
    return made
  }
  const bare = await weigh(5_000, () => spawn(parent))
  const hosted = await weigh(5_000, () => spawn(host))
  expect(hosted - bare).toBeLessThan(1024)
  expect(System.stats(system).processes).toBe(5_101)
  await System.stop(system)
})
