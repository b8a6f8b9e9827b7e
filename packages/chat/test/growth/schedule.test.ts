import { Process, System } from "@troupe/otp"
import { expect, test } from "vitest"
import { type Access, planOf } from "../../src/batch/startOrder.ts"
import { ToolSlots } from "../../src/async/concurrencyLimit.ts"
import { dearer, type Measured } from "./cost.ts"

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

const half = (call: number, count: number): Access => ({ effect: call < count / 2 ? "read" : "write" })

test.each(Object.entries({ ...mixes, "reads, then writes": half }))(
  "SCHED5 a plan has less than eight places and orders for each call, however many there are: %s",
  (_mix, access) => {
    for (const count of [1, 10, 1_000, 20_000]) {
      const plan = planOf(Array.from({ length: count }), (_, call) => access(call, count))
      let ended = 0
      for (let call = plan.take(); call !== undefined; call = plan.take()) {
        plan.ended(call)
        ended++
      }
      expect(ended).toBe(count)
      expect(plan.size / count).toBeLessThan(8)
    }
  }
)

/** What is quadratic costs ten times as much for each; what is linear may still miss the processor's caches. */
const bound = 5

test("SLOT4 a slot costs the same in front of ten times as many that wait", async () => {
  /** So many crowds of `count`: as many lines in small ones as in a large one. */
  const crowds = (times: number, count: number): Measured => ({
    run: () => {
      for (let time = 0; time < times; time++) {
        const slots = new ToolSlots(1)
        const host = Process.spawn(System.make(), () => new Promise(() => {}))
        const lines = Array.from({ length: count }, () => slots.line(host, () => {}))
        for (const line of lines) line.take()
        for (const line of lines) {
          line.take()
          line.release()
        }
        Process.kill(host)
      }
    }
  })
  expect(await dearer(9, crowds(1, 3_000), crowds(10, 300))).toBeLessThan(bound)
})
