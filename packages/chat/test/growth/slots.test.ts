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
        const lines = Array.from({ length: count }, () => slots.line(() => {}))
        for (const line of lines) line.take()
        for (const line of lines) {
          line.take()
          line.release()
        }
        for (const line of lines) line.leave()
      }
    }
  })
  expect(await dearer(9, crowds(1, 3_000), crowds(10, 300))).toBeLessThan(bound)
})
