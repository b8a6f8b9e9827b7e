import { execFile } from "node:child_process"
import host from "node:process"
import { promisify } from "node:util"
import { expect, test } from "vitest"
import { Clock } from "../../src/index.ts"

test("timer-005 HEAP1 timers run in the order of their due time, not of their making", async () => {
  const clock = Clock.test()
  const ran: Array<number> = []
  const due = Array.from({ length: 200 }, (_, index) => (index * 7919) % 100)
  for (const ms of due) clock.setTimeout(() => ran.push(ms), ms)
  await clock.advance(100)
  expect(ran).toEqual(due.toSorted((one, other) => one - other))
})

test("HEAP2 a cleared timer is gone at once and never runs", async () => {
  const clock = Clock.test()
  const ran: Array<number> = []
  const ids = [1, 2, 3, 4, 5].map((ms) => clock.setTimeout(() => ran.push(ms), ms))
  clock.clearTimeout(ids[1])
  clock.clearTimeout(ids[1])
  clock.clearTimeout("nothing")
  expect(clock.pending).toBe(4)
  await clock.advance(10)
  expect(ran).toEqual([1, 3, 4, 5])
})

test("a test clock stands still until it is advanced, and settles between timers", async () => {
  const clock = Clock.test()
  const ran: Array<string> = []
  clock.setTimeout(() => {
    queueMicrotask(() => {
      ran.push(`first at ${clock.now()}`)
      clock.setTimeout(() => ran.push(`second at ${clock.now()}`), 5)
    })
  }, 10)
  await clock.advance(9)
  expect([ran, clock.now()]).toEqual([[], 9])
  await clock.advance(6)
  expect(ran).toEqual(["first at 10", "second at 15"])
})

test("a test clock runs as far as some work needs, and says so when the work waits for something else", async () => {
  const clock = Clock.test()
  const sleep = (ms: number) => new Promise<void>((resolve) => void clock.setTimeout(resolve, ms))
  const work = async () => {
    await sleep(1_000)
    await sleep(60_000)
    return "done"
  }
  expect([await clock.run(work()), clock.now()]).toEqual(["done", 61_000])
  await expect(clock.run(Promise.reject(new Error("no")))).rejects.toThrow("no")
  await expect(clock.run(new Promise(() => {}))).rejects.toThrow("at 61000 ms")
})

/** Resolves when the live clock has run a timer of so many milliseconds: the clock itself is what is tested. */
const passing = (ms: number): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  Clock.live.setTimeout(resolve, ms)
  return promise
}

test("timer-001 the live clock runs a timer, not before its time, and forgets a cleared one", async () => {
  const began = performance.now()
  const cleared = Clock.live.setTimeout(() => expect.unreachable(), 1)
  Clock.live.clearTimeout(cleared)
  await passing(5)
  expect(performance.now() - began).toBeGreaterThanOrEqual(5)
})

test("a live timer that throws does not take the later ones with it", async () => {
  const failures: Array<unknown> = []
  const listeners = process.listeners("uncaughtException")
  process.removeAllListeners("uncaughtException")
  process.once("uncaughtException", (error) => failures.push(error))
  Clock.live.setTimeout(() => {
    throw new Error("boom")
  }, 1)
  await passing(2)
  for (const listener of listeners) process.on("uncaughtException", listener)
  expect(failures).toEqual([new Error("boom")])
})

test("CLOCK3 a clock refuses a timer at NaN, and the others run on", async () => {
  for (const clock of [Clock.test(), Clock.live]) {
    expect(() => clock.setTimeout(() => {}, Number.NaN)).toThrow(RangeError)
    const ran = new Promise((resolve) => clock.setTimeout(() => resolve("ran"), 1))
    if (clock !== Clock.live) await (clock as Clock.TestClock).advance(1)
    expect(await ran).toBe("ran")
  }
})

test("a test clock is advanced by a finite time, 0 or more, and by nothing else", async () => {
  const clock = Clock.test()
  await clock.advance(5)
  for (const ms of [Number.NaN, -5, Number.POSITIVE_INFINITY]) {
    await expect(clock.advance(ms)).rejects.toThrow(RangeError)
  }
  expect(clock.now()).toBe(5)
})

test("CLOCK1 a test clock runs a timer of the background in its turn, and does not count it", async () => {
  const clock = Clock.test()
  const ran: Array<string> = []
  clock.setTimeout(() => ran.push("later"), 20)
  clock.setBackgroundTimeout?.(() => ran.push("background"), 10)
  const cleared = clock.setBackgroundTimeout?.(() => ran.push("cleared"), 10)
  clock.clearTimeout(cleared)
  expect(clock.pending).toBe(1)
  await clock.advance(15)
  expect(ran).toEqual(["background"])
  await clock.advance(15)
  expect([ran, clock.pending]).toEqual([["background", "later"], 0])
})

test("CLOCK1 a timer of the background runs, and keeps no program alive", async () => {
  const program = `
    import { live } from ${JSON.stringify(new URL("../../src/time/Clock.ts", import.meta.url).href)}
    live.setBackgroundTimeout(() => console.log("background"), 20)
    live.setTimeout(() => {
      console.log("foreground")
      live.setBackgroundTimeout(() => console.log("never"), 60_000)
      live.clearTimeout(live.setBackgroundTimeout(() => console.log("cleared"), 1))
    }, 60)
  `
  const { stdout } = await promisify(execFile)(host.execPath, ["--input-type=module", "-e", program])
  expect(stdout.trim().split("\n")).toEqual(["background", "foreground"])
})
