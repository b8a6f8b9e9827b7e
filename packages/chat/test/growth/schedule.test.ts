import { Process, System } from "@troupe/otp"
import { expect, test } from "vitest"
import { type Access, planOf } from "../../src/internal/schedule.ts"
import { ToolSlots } from "../../src/internal/toolSlots.ts"

/** What is quadratic costs ten times as much for each; what is linear may still miss the processor's caches. */
const bound = 4

/** How many calls are timed together: what is timed as long is as often interrupted by others on the machine. */
const timed = 30_000

/** Milliseconds for each call, planned and ended in order in batches of `count`, at best. */
const cheapest = (count: number, access: (call: number, count: number) => Access): number => {
  const calls = Array.from({ length: count }, (_, call) => call)
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < 7; round++) {
    const began = performance.now()
    let ended = 0
    while (ended < timed) {
      const plan = planOf(calls, (call) => access(call, count))
      for (let call = plan.take(); call !== undefined; call = plan.take()) {
        plan.ended(call)
        ended++
      }
    }
    best = Math.min(best, (performance.now() - began) / timed)
    expect(ended).toBe(timed)
  }
  return best
}

const mixes: Record<string, (call: number, count: number) => Access> = {
  "reads only": () => ({ effect: "read" }),
  "writes only": () => ({ effect: "write" }),
  "reads, then writes of a key each": (call, count) =>
    call < count / 2 ? { effect: "read" } : { effect: "write", key: `${call}` },
  "writes of a key each, then reads": (call, count) =>
    call < count / 2 ? { effect: "write", key: `${call}` } : { effect: "read" },
  "reads and writes of a key each, in turns": (call) =>
    call % 2 === 0 ? { effect: "read" } : { effect: "write", key: `${call}` },
  "reads of one key, then writes of it": (call, count) => ({ effect: call < count / 2 ? "read" : "write", key: "a" }),
  "reads of a key each around writes without one": (call) =>
    call % 3 === 0 ? { effect: "write" } : { effect: "read", key: `${call}` }
}

for (const [mix, access] of Object.entries(mixes)) {
  test(`SCHED5 a plan costs the same for each of ten times as many calls: ${mix}`, () => {
    cheapest(3_000, access)
    expect(cheapest(30_000, access) / cheapest(3_000, access)).toBeLessThan(bound)
  })
}

test("SLOT4 a slot costs the same in front of ten times as many that wait", () => {
  const cost = (count: number): number => {
    const system = System.make()
    const slots = new ToolSlots(1)
    const host = Process.spawn(system, () => new Promise(() => {}))
    const lines = Array.from({ length: count }, () => slots.line(host, () => {}))
    const began = performance.now()
    for (const line of lines) line.take()
    for (const line of lines) {
      line.take()
      line.release()
    }
    const took = performance.now() - began
    Process.kill(host)
    return took / count
  }
  const best = (count: number): number => Math.min(...Array.from({ length: 7 }, () => cost(count)))
  best(1_000)
  expect(best(10_000) / best(1_000)).toBeLessThan(bound)
})
