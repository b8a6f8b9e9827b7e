import { afterEach, beforeEach, expect, test } from "vitest"
import { setup } from "xstate"
import {
  DeadLetters,
  DynamicSupervisor,
  GenServer,
  Process,
  Registry,
  StateMachine,
  Supervisor,
  System
} from "../../src/index.ts"
import type { Pid } from "../../src/index.ts"
import { bank } from "../double/bank.ts"
import { hop } from "../double/hop.ts"
import { inProcess, sleeper } from "../double/inProcess.ts"

let system: System.System

beforeEach(() => {
  system = System.make()
})

afterEach(() => System.stop(system))

const silent = GenServer.make<void, null>({ init: () => GenServer.ok(null) })

test("DELIV1 a message to a dead process is counted and kept, with who sent it", async () => {
  const pid = sleeper(system)
  Process.kill(pid)
  const sender = await inProcess(system, (self) => {
    Process.send(pid, "hello")
    return Promise.resolve(self)
  })
  GenServer.cast(pid, "told")
  expect(DeadLetters.counts(system)).toEqual({ dead: 2, unexpected: 0 })
  expect(DeadLetters.recent(system).map(({ kind, target, message, from }) => [kind, target, message, from])).toEqual([
    ["dead", pid, "hello", sender],
    ["dead", pid, "told", undefined]
  ])
})

test("a cast to a name nobody has is a dead letter", () => {
  const name = Process.named(system, "nobody")
  GenServer.cast(name, "hello")
  expect(DeadLetters.recent(system).map(({ target, message }) => [target, message])).toEqual([[name, "hello"]])
})

test("a call to a dead process is none: its caller gets the exit", async () => {
  const pid = await GenServer.start(system, bank(), undefined)
  Process.kill(pid)
  await expect(GenServer.call(pid, "get")).rejects.toMatchObject({ reason: "noproc" })
  expect(DeadLetters.counts(system)).toEqual({ dead: 0, unexpected: 0 })
})

test("what a server without handleInfo, a supervisor or a machine has no use for is unexpected", async () => {
  const server = await GenServer.start(system, silent, undefined)
  const supervisors = [await Supervisor.start(system, { children: [] }), await DynamicSupervisor.start(system)]
  const registry = await Registry.start(system)
  const machine = StateMachine.start(system, setup({}).createMachine({}))
  const targets: ReadonlyArray<Pid> = [server, ...supervisors, registry, machine]
  for (const target of targets) Process.send(target as Pid<unknown>, "odd")
  await hop()
  expect(DeadLetters.counts(system)).toEqual({ dead: 0, unexpected: targets.length })
  expect(DeadLetters.recent(system).map((letter) => letter.target)).toEqual(targets)
  expect(targets.every((target) => Process.isAlive(target))).toBe(true)
})

test("the ends of registered processes are no unexpected messages", async () => {
  const registry = await Registry.start(system)
  const pid = sleeper(system)
  Registry.register(registry, "key", pid)
  Process.kill(pid)
  await hop()
  expect(DeadLetters.counts(system)).toEqual({ dead: 0, unexpected: 0 })
})

test("DLOG1 all are counted, the last 100 are kept", () => {
  const pid = sleeper(system)
  Process.kill(pid)
  for (let index = 0; index < 250; index++) Process.send(pid, index)
  expect(DeadLetters.counts(system).dead).toBe(250)
  const kept = DeadLetters.recent(system).map((letter) => letter.message)
  expect(kept).toEqual(Array.from({ length: 100 }, (_, index) => 150 + index))
})

test("a subscriber is notified of each, until it unsubscribes", () => {
  const pid = sleeper(system)
  Process.kill(pid)
  const seen: Array<unknown> = []
  const stop = DeadLetters.subscribe(system, ({ kind, message }) => seen.push([kind, message]))
  Process.send(pid, 1)
  stop()
  Process.send(pid, 2)
  expect(seen).toEqual([["dead", 1]])
})
