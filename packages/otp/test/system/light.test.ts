import { createHook } from "node:async_hooks"
import { expect, test } from "vitest"
import { setup } from "xstate"
import { GenServer, Process, StateMachine, System } from "../../src/index.ts"
import type { Pid } from "../../src/index.ts"
import { hop, until } from "../double/hop.ts"
import { sleeper } from "../double/inProcess.ts"

const counter = GenServer.make<void, number, "next", number, never, number>({
  init: () => GenServer.ok(0),
  handleCall: (_request, _from, state) => GenServer.replying(state + 1, state + 1)
})

test("PERF1 a synchronous handler starts no fiber and makes no promise", async () => {
  const system = System.make()
  const parent = sleeper(system)
  const pid = GenServer.spawnLink(parent, counter, undefined)
  const chart = setup({}).createMachine({ initial: "a", states: { a: { on: { go: "b" } }, b: { on: { go: "a" } } } })
  const machine = StateMachine.start(system, chart)
  await hop()
  /** The test runner makes promises of its own, now and then: what the messages make is made each time. */
  let promises = Number.POSITIVE_INFINITY
  for (let round = 0; round < 5; round++) {
    let made = 0
    const hook = createHook({ init: (_id, type) => (made += type === "PROMISE" ? 1 : 0) }).enable()
    for (let index = 0; index < 1000; index++) Process.send(pid, index)
    Process.send(machine, { type: "go" })
    await until(
      () =>
        Process.info(pid)?.queueLength === 0 && StateMachine.snapshot(machine).value === (round % 2 === 0 ? "b" : "a")
    )
    hook.disable()
    promises = Math.min(promises, made)
  }
  expect(System.stats(system).fibers).toBe(0)
  expect(promises).toBeLessThan(10)
  await System.stop(system)
})

test("RUN2 a process with much mail gives way to the others", async () => {
  const system = System.make()
  const order: Array<string> = []
  const record = (name: string) =>
    GenServer.make<void, null, never, never, never, number>({
      init: () => GenServer.ok(null),
      handleInfo: (message, state) => {
        order.push(`${name}${Number(message)}`)
        return GenServer.noreply(state)
      }
    })
  const parent = sleeper(system)
  const [busy, other] = [
    GenServer.spawnLink(parent, record("busy"), undefined),
    GenServer.spawnLink(parent, record("other"), undefined)
  ]
  for (let index = 0; index < 1000; index++) Process.send(busy, index)
  Process.send(other, 0)
  await until(() => order.length === 1001)
  expect(order.indexOf("other0")).toBe(64)
  await System.stop(system)
})

test("RUN2 messages that keep a system busy let the host's event loop turn", async () => {
  const system = System.make()
  const parent = sleeper(system)
  let turns = 0
  let immediate = false
  const spinning = GenServer.make<void, null, never, never, never, "spin">({
    init: () => GenServer.ok(null),
    handleInfo: (_message, state, self) => {
      turns++
      if (!immediate) Process.send(self, "spin")
      return GenServer.noreply(state)
    }
  })
  const pid = GenServer.spawnLink(parent, spinning, undefined)
  Process.send(pid, "spin")
  await new Promise<void>((resolve) => void setImmediate(resolve))
  immediate = true
  expect(turns).toBeGreaterThan(0)
  await System.stop(system)
})

/** What two players send each other. */
interface Ball {
  readonly from: Pid<Ball>
}

/** Ways for processes to go on for ever outside their turns; each step says whether there is to be another. */
const endless: Record<string, (system: System.System, step: () => boolean) => void> = {
  "a chain of continuations": (system, step) => {
    const next = () => GenServer.noreply(null, step() ? { continue: null } : undefined)
    const chain = GenServer.make<void, null>({
      init: () => GenServer.ok(null, { continue: null }),
      handleContinue: next
    })
    GenServer.spawnLink(sleeper(system), chain, undefined)
  },
  "a process that receives what it sends to itself": (system, step) => {
    Process.spawn<number>(system, async (self) => {
      for (; step(); await Process.receive(self)) Process.send(self, 1)
    })
  },
  "a process that looks whether there is mail": (system, step) => {
    Process.spawn(system, async (self) => {
      while (step()) await Process.receive(self, { timeout: 0 })
    })
  },
  "two processes that answer each other": (system, step) => {
    const player = () =>
      Process.spawn<Ball>(system, async (self) => {
        while (step()) Process.send(((await Process.receive(self)) as Ball).from, { from: self })
      })
    Process.send(player(), { from: player() })
  }
}

test.each(Object.entries(endless))("RUN2 %s lets the host's event loop turn", async (_name, begin) => {
  const system = System.make()
  let [steps, turned] = [0, false]
  begin(system, () => ++steps < 1_000_000 && !turned)
  await new Promise<void>((resolve) => void setImmediate(resolve))
  await new Promise<void>((resolve) => void setImmediate(resolve))
  turned = true
  expect(steps).toBeGreaterThan(0)
  expect(steps).toBeLessThan(20_000)
  await System.stop(system)
})

test("RUN4 messages are received in their order, also where receives wait for the event loop", async () => {
  const system = System.make()
  const taken: Array<unknown> = []
  const pid = Process.spawn<number>(system, () => new Promise(() => {}))
  for (let index = 0; index < 10_000; index++) {
    void Process.receive(pid).then((message) => taken.push(message))
    Process.send(pid, index)
  }
  await until(() => taken.length === 10_000)
  expect(taken).toEqual(Array.from({ length: 10_000 }, (_, index) => index))
  await System.stop(system)
})

test("RECV4 a receive that waits for the event loop and is given up takes no message", async () => {
  const system = System.make()
  const pid = Process.spawn<number>(system, () => new Promise(() => {}))
  Process.send(pid, 1)
  for (let index = 0; index < 5000; index++) void Process.receive(pid, { match: () => false, timeout: 0 })
  const fiber = System.runFork(system, Process.receiveEffect(pid))
  fiber.interruptUnsafe()
  await hop()
  expect(Process.info(pid)?.queueLength).toBe(1)
  await System.stop(system)
})
