import * as DateTime from "effect/DateTime"
import { expect, test } from "vitest"
import { Agent, Clock, GenServer, Process, System, Timer } from "../../src/index.ts"
import type { Pid } from "../../src/index.ts"
import { TestProcess } from "../../src/testing/TestProcess.ts"

const isNumber = (message: unknown): message is number => typeof message === "number"

test("TESTP1 expect takes the first message that matches, and leaves the others in their order", async () => {
  await using me = new TestProcess()
  for (const message of ["one", 2, { three: [3] }, 4]) Process.send(me.pid, message)
  expect(await me.expect({ three: [3] })).toEqual({ three: [3] })
  expect(await me.expect(isNumber)).toBe(2)
  expect(await me.expect((message) => message !== "one")).toBe(4)
  await expect(me.expect("two", { within: 0 })).rejects.toMatchObject({
    _tag: "NotReceived",
    message: '"two" did not arrive in time: allow more time, or see why; the mailbox has "one"'
  })
  expect(await me.expect("one", { within: 0 })).toBe("one")
})

test("TESTP1 refute fails with the message that arrives, and takes no other", async () => {
  await using me = new TestProcess()
  Process.send(me.pid, "one")
  await me.refute("two")
  await expect(me.refute("one")).rejects.toMatchObject({ _tag: "UnexpectedMessage", received: "one" })
})

test("TESTP2 a wait advances a test clock to the message, and at most by within", async () => {
  await using me = new TestProcess()
  const { clock } = me.system
  const before = clock.now()
  Timer.sendAfter(me.pid, "soon", 40)
  Timer.sendAfter(me.pid, "late", 5000)
  await me.expect("soon")
  expect(clock.now()).toBe(before + 40)
  await me.refute("late")
  expect(clock.now()).toBe(before + 140)
  await me.advance(4860)
  await me.expect("late", { within: 0 })
})

test("down and exit wait for the end of a process, and resolve with its reason", async () => {
  await using me = new TestProcess()
  const ends = (reason: string) => async (self: Pid<unknown>) => {
    await Process.receive(self, { match: () => false, timeout: 20 })
    Process.exitSelf(reason)
  }
  expect(await me.down(Process.spawn(me.system, ends("boom")))).toBe("boom")
  expect(await me.exit(Process.spawnLink(me.pid, ends("gone")))).toBe("gone")
  const stays = Process.spawnLink(me.pid, () => new Promise(() => {}))
  await expect(me.down(stays)).rejects.toMatchObject({ _tag: "NotReceived" })
  await expect(me.exit(stays)).rejects.toMatchObject({ _tag: "NotReceived" })
  Process.kill(stays)
  expect(await me.exit(stays)).toBe("killed")
})

test("TESTP3 supervised processes end with the test, in reverse start order, and its system leaves nothing", async () => {
  const ended: Array<string> = []
  const named = (name: string) =>
    GenServer.make({
      init: (_args: undefined, self) => {
        Process.trapExit(self, true)
        return GenServer.ok(name)
      },
      terminate: (_reason, state) => void ended.push(state)
    })
  const start = async (): Promise<System.System> => {
    await using me = new TestProcess()
    const first = await me.start((parent) => GenServer.startLink(parent, named("one"), undefined))
    await me.start((parent) => GenServer.startLink(parent, named("two"), undefined), { restart: "temporary" })
    Process.kill(first)
    expect(await me.down(first)).toBe("noproc")
    await me.refute(() => true)
    await expect(me.start(() => "ignore")).rejects.toMatchObject({ _tag: "StartFailed" })
    return me.system
  }
  const system = await start()
  expect(ended).toEqual(["two", "one"])
  expect(System.stats(system)).toEqual({ processes: 0, fibers: 0, timers: 0, closing: 0 })
})

test("TESTP3 the system of a test that has one goes on", async () => {
  const system = System.make({ clock: Clock.live })
  const start = async (): Promise<Agent.Agent<number>> => {
    await using me = new TestProcess({ system })
    Timer.sendAfter(me.pid, "ring", 1)
    await me.expect("ring", { within: 5000 })
    await me.advance(1)
    return me.start((parent) => Agent.startLink(parent, () => 1))
  }
  const agent = await start()
  expect([Process.exitReason(agent), System.stats(system).processes]).toEqual(["shutdown", 0])
  await System.stop(system)
})

test("TESTP3 disposal kills a process that hangs in its init, throws nothing, and may be repeated", async () => {
  const hangs = GenServer.make({
    init: (_args: undefined, self) => {
      Process.trapExit(self, true)
      return new Promise<never>(() => {})
    }
  })
  for (const system of [undefined, System.make({ clock: Clock.test() })]) {
    const me = new TestProcess(system === undefined ? {} : { system })
    await expect(me.start((parent) => GenServer.startLink(parent, hangs, undefined))).rejects.toThrow("is not done")
    await me[Symbol.asyncDispose]()
    await me[Symbol.asyncDispose]()
    expect(System.stats(me.system).processes).toBe(0)
    const ended = "The process of the test has ended: use it before its disposal"
    await expect(me.expect("one")).rejects.toThrow(ended)
    await expect(me.start((parent) => Agent.startLink(parent, () => 1))).rejects.toThrow(ended)
  }
})

const dateOf = (ms: number): Date => DateTime.toDateUtc(DateTime.makeUnsafe(ms))

class Point {
  readonly x = 1
}

test("TESTP4 dates, maps, sets and errors are taken by value, other instances by identity", async () => {
  await using me = new TestProcess()
  const values = (n: number): ReadonlyArray<object> => [
    dateOf(n),
    new Map([[{ id: n }, [n]]]),
    new Set([{ n }, { n: 0 }]),
    new TypeError(`no ${n}`, { cause: { n } }),
    Object.assign(new Error("no"), { code: n }),
    { at: [dateOf(n)] },
    [n, undefined]
  ]
  for (const [at, value] of values(5).entries()) {
    Process.send(me.pid, value)
    await expect(me.expect(values(6)[at], { within: 0 })).rejects.toMatchObject({ _tag: "NotReceived" })
    expect(await me.expect(values(5)[at])).toBe(value)
  }
  Process.send(me.pid, new Error("no"))
  await me.refute(new TypeError("no"))
  const point = new Point()
  Process.send(me.pid, point)
  await me.refute(new Point())
  await me.refute({ x: 1 })
  expect(await me.expect(point)).toBe(point)
})
