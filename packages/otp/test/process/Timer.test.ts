import { afterEach, beforeEach, expect, test } from "vitest"
import { Clock, Process, System, Timer } from "../../src/index.ts"
import { flush, inProcess, sleeper } from "../double/inProcess.ts"

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

test("timer-001 timer-008 a message comes after its time, in a TimeoutMessage if started so", async () => {
  const running = inProcess(system, async (self) => {
    Timer.sendAfter(self, "plain", 10)
    const ref = Timer.start(self, "wrapped", 20)
    return [ref, await Process.receive(self), await Process.receive(self)]
  })
  await clock.advance(20)
  const [ref, plain, wrapped] = await running
  expect([plain, wrapped]).toEqual(["plain", { _tag: "Timeout", ref, message: "wrapped" }])
})

test("timer-002 timer-003 timer-004 timer-009 cancel and read answer the time left, and false once it is over", async () => {
  const pid = sleeper(system)
  const [one, two] = [Timer.sendAfter(pid, "one", 100), Timer.sendAfter(pid, "two", 10)]
  await clock.advance(40)
  expect([Timer.read(one), Timer.cancel(one), Timer.cancel(one), Timer.read(two), Timer.cancel(two)]).toEqual([
    60,
    60,
    false,
    false,
    false
  ])
  expect(Process.info(pid)?.queueLength).toBe(1)
})

test("timer-006 timer-007 a timer outlives its maker and goes with its target", async () => {
  const [target, maker] = [sleeper(system), sleeper(system)]
  const ref = Timer.sendAfter(target, "message", 10)
  Process.kill(maker)
  expect(Timer.read(ref)).toBe(10)
  Process.kill(target)
  expect([Timer.cancel(ref), clock.pending, Timer.read(Timer.sendAfter(target, "late", 1))]).toEqual([false, 0, false])
})

test("timer-010 a name is looked up when the time has come, and nobody there is no error", async () => {
  const name = Process.named(system, "later")
  Timer.sendAfter(name, "lost", 5)
  Timer.sendAfter(name, "found", 10)
  await clock.advance(5)
  const running = inProcess(system, async (self) => {
    Process.register("later", self)
    return [await Process.receive(self), await flush(self)]
  })
  await clock.advance(5)
  expect(await running).toEqual(["found", []])
})

test("CLOCK3 a time below 0 and NaN are refused wherever a time is given, and hold up no other timer", async () => {
  const pid = sleeper(system)
  const seconds = Timer.sendAfter(pid, "later", 1000)
  for (const bad of [Number.NaN, -1, "-1 seconds"] as const) {
    expect(() => Timer.sendAfter(pid, "x", bad)).toThrow(RangeError)
    expect(() => Timer.start(pid, "x", bad)).toThrow(RangeError)
    await expect(Process.receive(pid, { timeout: bad })).rejects.toThrow(RangeError)
  }
  await clock.advance(1000)
  expect([Timer.read(seconds), Process.info(pid)?.queueLength]).toEqual([false, 1])
})

test("a timer with an endless time sends nothing and does not wait", () => {
  const ref = Timer.sendAfter(sleeper(system), "never", "infinity")
  expect([Timer.read(ref), Timer.cancel(ref), clock.pending]).toEqual([false, false, 0])
})

test("a timer to a name ends with the system, and none starts after", async () => {
  const name = Process.named(system, "nobody")
  const ref = Timer.sendAfter(name, "late", 60_000)
  expect([Timer.read(ref), System.stats(system).timers]).toEqual([60_000, 1])
  await System.stop(system)
  expect([Timer.read(ref), Timer.read(Timer.sendAfter(name, "later", 1)), clock.pending]).toEqual([false, false, 0])
})

test("a timer to an alias ends with the maker of the alias", () => {
  const maker = sleeper(system)
  const alias = Process.alias(maker)
  const ref = Timer.sendAfter<unknown>(alias, "late", 60_000)
  expect(Timer.read(ref)).toBe(60_000)
  Process.kill(maker)
  expect([Timer.read(ref), clock.pending, Timer.read(Timer.sendAfter<unknown>(alias, "x", 1))]).toEqual([
    false,
    0,
    false
  ])
})

test("a timer with an absolute time is due at that time of the clock, and at once when it has passed", async () => {
  await clock.advance(100)
  const due = clock.now() + 30
  const running = inProcess(system, async (self) => {
    const ref = Timer.sendAfter(self, "later", due, { absolute: true })
    Timer.sendAfter(self, "past", due - 60, { absolute: true })
    Timer.start(self, "wrapped", due + 10, { absolute: true })
    const left = Timer.read(ref)
    const first = [await Process.receive(self), clock.now()]
    const second = [await Process.receive(self), clock.now()]
    return [left, first, second, await Process.receive(self), clock.now()]
  })
  await clock.advance(0)
  await clock.advance(40)
  const wrapped = expect.objectContaining({ _tag: "Timeout", message: "wrapped" })
  expect(await running).toEqual([30, ["past", due - 30], ["later", due], wrapped, due + 10])
})

test("a timer that is longer than the host's longest one does not fire early", async () => {
  const live = System.make()
  const seen = await inProcess(live, async (self) => {
    const ref = Timer.sendAfter(self, "early", 2 ** 32)
    const received = await Process.receive(self, { timeout: 5 })
    return [received, Number(Timer.cancel(ref)) > 2 ** 31]
  })
  expect(seen).toEqual([undefined, true])
  await System.stop(live)
})
