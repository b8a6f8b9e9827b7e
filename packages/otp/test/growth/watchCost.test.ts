import { expect, test } from "vitest"
import { Clock, GenServer, Process, System, Telemetry } from "../../src/index.ts"
import { kernelOf } from "../../src/kernel/cell.ts"
import { until } from "../double/hop.ts"
import { processorMs } from "./cost.ts"

const sink = GenServer.make<void, number, never, never, never, number>({
  init: () => GenServer.ok(0),
  handleInfo: (_message, state) => GenServer.noreply(state + 1)
})

const messages = 30_000

/** Milliseconds of the processor for many messages through one server. */
const flood = async (system: System.System): Promise<number> => {
  const pid = await GenServer.start(system, sink, undefined)
  const began = processorMs()
  for (let index = 0; index < messages; index++) Process.send(pid, index)
  await until(() => Process.info(pid)?.queueLength === 0)
  const took = processorMs() - began
  await GenServer.stop(pid)
  return took
}

test("WATCH1 a system has a watch exactly while somebody watches", () => {
  const system = System.make()
  expect(kernelOf(system).observer).toBeUndefined()
  const [one, two] = [Telemetry.attach(system, "*", () => {}), Telemetry.attach(system, "process", () => {})]
  one()
  expect(kernelOf(system).observer).toBeDefined()
  two()
  expect(kernelOf(system).observer).toBeUndefined()
})

test("WATCH3 an event that no handler takes is not made", async () => {
  const clock = Clock.test()
  let looks = 0
  const counting = Object.assign(clock, { now: () => looks++ })
  const system = System.make({ clock: counting })
  const detach = Telemetry.attach(system, "supervisor", () => {})
  const pid = await GenServer.start(system, sink, undefined)
  for (let index = 0; index < 100; index++) Process.send(pid, index)
  await until(() => Process.info(pid)?.queueLength === 0)
  expect(looks).toBe(0)
  detach()
  Telemetry.attach(system, "process.message", () => {})
  for (let index = 0; index < 100; index++) Process.send(pid, index)
  expect(looks).toBe(100)
  await System.stop(system)
})

test("a system that was watched costs what one that never was does, and one that is costs more", async () => {
  const never = System.make()
  const once = System.make()
  const watched = System.make()
  Telemetry.attach(once, "*", () => {})()
  Telemetry.attach(watched, "process", () => {})
  const times = { never: Infinity, once: Infinity, watched: Infinity }
  for (let round = 0; round < 5; round++) {
    times.never = Math.min(times.never, await flood(never))
    times.once = Math.min(times.once, await flood(once))
    times.watched = Math.min(times.watched, await flood(watched))
  }
  expect(times.once / times.never).toBeLessThan(2)
  expect(times.watched / times.never).toBeGreaterThan(times.once / times.never)
  await Promise.all([never, once, watched].map((system) => System.stop(system)))
})
