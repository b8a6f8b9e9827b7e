import { Process, System } from "@troupe/otp"
import { expect, test } from "vitest"
import { ToolSlots } from "../../src/async/concurrencyLimit.ts"
import { dearer, type Measured } from "./cost.ts"

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
