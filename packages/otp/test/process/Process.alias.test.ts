import { afterEach, beforeEach, expect, test } from "vitest"
import { Clock, DeadLetters, GenServer, Process, System, SystemMessage, Timer } from "../../src/index.ts"
import type { Pid } from "../../src/index.ts"
import { bank } from "../double/bank.ts"
import { hop } from "../double/hop.ts"
import { flush, inProcess, sleeper } from "../double/inProcess.ts"

let system: System.System
let clock: Clock.TestClock

beforeEach(() => {
  clock = Clock.test()
  system = System.make({ clock })
})

afterEach(async () => {
  await System.stop(system)
  expect(System.stats(system)).toEqual({ processes: 0, fibers: 0, timers: 0, closing: 0 })
})

const kindOf = (message: unknown): unknown => (SystemMessage.isDown(message) ? [message._tag, message.reason] : message)
/** The mail of a process, as it is now. */
const mailOf = (body: (self: Pid<unknown>) => void | Promise<void>): Promise<ReadonlyArray<unknown>> =>
  inProcess(system, async (self) => {
    await body(self)
    return (await flush(self)).map(kindOf)
  })

test("ALIAS1 what is sent to an alias is mail until it is given up, and then a stray message", async () => {
  let alias: Process.Alias<unknown> | undefined
  const mail = await mailOf((self) => {
    alias = Process.alias(self)
    Process.send(alias, "one")
    Process.send(alias, "two")
    expect([Process.unalias(alias), Process.unalias(alias)]).toEqual([true, false])
    Process.send(alias, "late")
  })
  expect(mail).toEqual(["one", "two"])
  expect(DeadLetters.recent(system)).toMatchObject([{ kind: "dead", target: alias, message: "late" }])
})

test("ALIAS1 several aliases of a process are apart, and its pid leads to it still", async () => {
  const mail = await mailOf((self) => {
    const [one, other] = [Process.alias(self), Process.alias(self)]
    Process.unalias(one)
    Process.send(one, "one")
    Process.send(other, "other")
    Process.send(self, "self")
  })
  expect(mail).toEqual(["other", "self"])
})

test("ALIAS1 an alias ends with its process", () => {
  const pid = sleeper(system)
  const alias = Process.alias(pid)
  expect(alias.whereis()).toBe(pid)
  Process.kill(pid)
  expect([alias.whereis(), Process.unalias(alias)]).toEqual([undefined, false])
  Process.send(alias, "late")
  expect(DeadLetters.counts(system)).toEqual({ dead: 1, unexpected: 0 })
})

test("ALIAS2 a reply alias takes one message, sent, cast or by a timer", async () => {
  const mail = await mailOf((self) => {
    const alias = Process.alias(self, "reply")
    Process.send(alias, "first")
    Process.send(alias, "second")
  })
  expect(mail).toEqual(["first"])

  const server = await GenServer.start(system, bank(), undefined)
  const forCast = Process.alias(server, "reply")
  GenServer.cast(forCast, { add: 1 })
  GenServer.cast(forCast, { add: 1 })
  expect(await GenServer.call(server, "get")).toBe(1)

  const forTimer = Process.alias<unknown>(server, "reply")
  Timer.sendAfter(forTimer, "tick", 10)
  await clock.advance(10)
  expect(forTimer.whereis()).toBeUndefined()
})

test("ALIAS3 the alias of a monitor is given up when that is dropped, and when it fires", async () => {
  const [dropped, fired, dead] = [sleeper(system), sleeper(system), sleeper(system)]
  Process.kill(dead)
  const mail = await mailOf((self) => {
    const one = Process.monitorAlias(self, dropped, "demonitor")
    const other = Process.monitorAlias(self, fired, "demonitor")
    Process.send(one.alias, "one")
    Process.send(one.alias, "again")
    Process.demonitor(one.ref)
    Process.exit(fired, "boom")
    const { alias: late } = Process.monitorAlias(self, dead, "demonitor")
    for (const alias of [one.alias, other.alias, late]) Process.send(alias, "late")
  })
  expect(mail).toEqual(["one", "again", ["Down", "boom"], ["Down", "noproc"]])
})

test("ALIAS2 ALIAS3 with replyDemonitor the first message drops the monitor too", async () => {
  const target = sleeper(system)
  const mail = await mailOf((self) => {
    const { ref, alias } = Process.monitorAlias(self, target)
    Process.send(alias, "reply")
    Process.send(alias, "late")
    Process.kill(target)
    expect(Process.demonitor(ref, { info: true })).toBe(false)
  })
  expect(mail).toEqual(["reply"])
})

test("unalias gives up the alias of a monitor alone", async () => {
  const target = sleeper(system)
  const mail = await mailOf((self) => {
    const { alias } = Process.monitorAlias(self, target)
    Process.unalias(alias)
    Process.send(alias, "late")
    Process.kill(target)
  })
  expect(mail).toEqual([["Down", "killed"]])
})

test("ALIAS4 another process than its maker does not close an alias", async () => {
  const closed: Array<boolean> = []
  const mail = await mailOf(async (self) => {
    const alias = Process.alias(self)
    Process.spawn(system, () => void closed.push(Process.unalias(alias)))
    await hop()
    closed.push(Process.unalias(alias, sleeper(system)))
    Process.send(alias, "still open")
    closed.push(Process.unalias(alias, self))
  })
  expect([mail, closed]).toEqual([["still open"], [false, false, true]])
})

test("ALIAS3 with explicitUnalias the alias of a monitor outlives it, until unalias", async () => {
  const [one, two] = [sleeper(system), sleeper(system)]
  const mail = await mailOf((self) => {
    const dropped = Process.monitorAlias(self, one, "explicitUnalias")
    const fired = Process.monitorAlias(self, two, "explicitUnalias")
    Process.demonitor(dropped.ref)
    Process.kill(two)
    for (const { alias } of [dropped, fired]) Process.send(alias, "open")
    expect(Process.unalias(dropped.alias, self)).toBe(true)
    Process.send(dropped.alias, "closed")
  })
  expect(mail).toEqual([["Down", "killed"], "open", "open"])
})
