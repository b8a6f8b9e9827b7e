import { Effect } from "effect"
import { afterEach, beforeEach, expect, test } from "vitest"
import { Agent, Clock, GenServer, Process, Supervisor, System } from "../../src/index.ts"
import { hop } from "../double/hop.ts"
import { sleeper } from "../double/inProcess.ts"

let system: System.System
let clock: Clock.TestClock

beforeEach(() => {
  clock = Clock.test()
  system = System.make({ clock })
})

afterEach(async () => {
  await System.stop(system)
  expect([System.stats(system), clock.pending]).toEqual([{ processes: 0, fibers: 0, timers: 0, closing: 0 }, 0])
})

const boom = new Error("boom")
const fail = (): never => {
  throw boom
}

test("agent-001 get, update, getAndUpdate and cast work on one value, in order", async () => {
  const agent = await Agent.start(system, () => 1)
  await Agent.update(agent, (n) => n + 2)
  expect(await Agent.get(agent, (n) => n)).toBe(3)
  expect(await Agent.getAndUpdate(agent, (n) => [n, n + 10] as const)).toBe(3)
  Agent.cast(agent, (n) => n + 100)
  expect(await Agent.get(agent, (n) => n)).toBe(113)
})

test("a value and a function may come with a promise or an effect; other mail waits", async () => {
  const agent = await Agent.start(system, () => Promise.resolve(1))
  const slow = Agent.update(agent, (n) => Effect.as(Effect.sleep(10), n + 1))
  const read = Agent.get(agent, (n) => Promise.resolve(n))
  await clock.advance(10)
  expect([await slow, await read]).toEqual([undefined, 2])
})

test("agent-002 a failure in the agent ends it, its caller's call, and whoever is linked to it", async () => {
  const owner = sleeper(system)
  const agent = await Agent.startLink(owner, () => 1)
  await expect(Agent.update(agent, fail)).rejects.toMatchObject({ _tag: "CallExit", reason: boom })
  expect([Process.exitReason(agent), Process.exitReason(owner)]).toEqual([boom, boom])
})

test("a failure where the value is made fails the start", async () => {
  await expect(Agent.start(system, fail)).rejects.toMatchObject({ _tag: "StartFailed", reason: boom })
})

test("agent-003 a call that times out leaves the change standing", async () => {
  const agent = await Agent.start(system, () => 1)
  const update = Agent.update(agent, (n) => Effect.as(Effect.sleep(50), n + 1), { timeout: 10 })
  const failed = update.catch((error: unknown) => error)
  await clock.advance(60)
  expect(await failed).toMatchObject({ _tag: "CallExit", reason: "timeout" })
  expect(await Agent.get(agent, (n) => n)).toBe(2)
})

test("agent-004 stop ends an agent normally", async () => {
  const agent = await Agent.start(system, () => 1)
  await Agent.stop(agent)
  expect(Process.exitReason(agent)).toBe("normal")
  await expect(Agent.stop(agent)).rejects.toMatchObject({ reason: "noproc" })
})

test("a supervised agent is found by its name, and starts with its first value again", async () => {
  await Supervisor.start(system, { children: [Agent.childSpec("counter", () => 1, { name: "counter" })] })
  const counter = Process.named<never>(system, "counter")
  await Agent.update<number>(counter, (n) => n + 1)
  expect(await Agent.get<number, number>(counter, (n) => n)).toBe(2)
  Agent.cast(counter, fail)
  await hop()
  expect(await Agent.get<number, number>(counter, (n) => n)).toBe(1)
})

test("SELFSTOP1 an agent or a server that stops itself in its turn gets calling_self at once", async () => {
  const agent = await Agent.start(system, () => 1)
  const stopping = expect.objectContaining({ _tag: "CallExit", reason: "calling_self", in: "GenServer.stop" })
  const seen = Agent.get(agent, () => Agent.stop(agent).catch((error: unknown) => error))
  expect(await seen).toEqual(stopping)
  expect(await Agent.get(agent, (n) => n)).toBe(1)
})

test("SELFSTOP2 when a process stops itself after an await without from, the log says after 5 seconds what to do", async () => {
  const time = Clock.test()
  const reports: Array<string> = []
  const own = System.make({ clock: time, logger: ({ message }) => void reports.push(message) })
  const agent = await Agent.start(own, () => 1)
  Agent.cast(agent, async (n) => {
    await hop()
    await Agent.stop(agent)
    return n
  })
  await time.advance(5000)
  await time.advance(5000)
  expect(reports).toEqual([
    `GenServer.stop waits for ${agent.label} ${agent}: it is busy: a process that stops itself after an await waits for itself. Return GenServer.stopping there, or pass the process as from`
  ])
  Process.kill(agent)
  await System.stop(own)
})

test("SELFSTOP1 after an await in its handler, an agent or a server that is from gets calling_self at once", async () => {
  const refused = expect.objectContaining({ _tag: "CallExit", reason: "calling_self", in: "GenServer.stop" })
  const agent = await Agent.start(system, () => 1)
  const stopped = Agent.get(agent, async () => {
    await hop()
    return Agent.stop(agent, "normal", "infinity", agent).catch((error: unknown) => error)
  })
  expect(await stopped).toEqual(refused)
  const shop = GenServer.make({
    init: () => GenServer.ok(0),
    handleCall: async (_request: "close", _from, state, self) => {
      await hop()
      return GenServer.replying(await GenServer.stop(self, "normal", "infinity", self).catch((e: unknown) => e), state)
    }
  })
  expect(await GenServer.call(await GenServer.start(system, shop, undefined), "close")).toEqual(refused)
})

test.each([
  ["a value", () => 5],
  ["a promise", () => Promise.resolve(5)],
  ["an effect", () => Effect.succeed(5)]
])("getAndUpdate with %s that is no pair ends the agent with a bad return value", async (_, change) => {
  const agent = await Agent.start(system, () => 1)
  const error = await Agent.getAndUpdate(agent, change as never).catch((failure: unknown) => failure)
  expect(error).toMatchObject({ _tag: "CallExit", reason: { _tag: "BadReturnValue", value: 5 } })
  expect(String(error)).toContain("a callback returned 5: return the list [answer, state]")
  expect(Process.isAlive(agent)).toBe(false)
})
