import { expect, test } from "vitest"
import { type CallOwner, Scheduler } from "../../src/batch/Scheduler.ts"
import { type Access, planOf } from "../../src/batch/startOrder.ts"
import { dearer, type Measured } from "../growth/cost.ts"

const mixes: Record<string, (call: number, count: number) => Access> = {
  "reads only": () => ({ effect: "read" }),
  "writes only": () => ({ effect: "write" }),
  "reads, then writes": (call, count) => ({ effect: call < count / 2 ? "read" : "write" }),
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

test.each(Object.entries(mixes))(
  "SCHED5 a plan has less than eight places and orders for each call, however many there are: %s",
  (_mix, access) => {
    for (const count of [1, 10, 1_000, 20_000]) {
      const plan = planOf(Array.from({ length: count }, (_, call) => access(call, count)))
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

/** A quadratic cost is a hundred times as high for each call; a linear one may still miss the caches of the processor. */
const bound = 25
const measured = 20_000

/** Runs `measured` calls in batches of `count`. */
const inBatches = (count: number, run: () => void): Measured => ({
  run: () => {
    for (let ran = 0; ran < measured; ran += count) run()
  }
})

/** Batches whose calls end while they are started. */
const batches = (count: number, accessOf: (call: number, count: number) => Access): Measured => {
  const accesses = Array.from({ length: count }, (_, call) => accessOf(call, count))
  return inBatches(count, () => {
    let isOver = false
    const owner: CallOwner = {
      run: (index) => scheduler.ended(index),
      skip: () => undefined,
      over: () => {
        isOver = true
      }
    }
    const scheduler = new Scheduler(count, { schedule: "effects", limit: 8 }, owner)
    scheduler.begin(accesses)
    expect(isOver).toBe(true)
  })
}

test.each(Object.entries(mixes))(
  "SCHED5 a call costs the same in a batch of a hundred times as many: %s",
  async (_mix, accessOf) => {
    expect(await dearer(5, batches(measured, accessOf), batches(measured / 100, accessOf))).toBeLessThan(bound)
  }
)

/** Batches of reads, each of which halts, from the last to the first. */
const haltingBatches = (count: number): Measured => {
  const accesses = Array.from({ length: count }, (): Access => ({ effect: "read" }))
  return inBatches(count, () => {
    const owner: CallOwner = { run: () => undefined, skip: () => undefined, over: () => undefined }
    const scheduler = new Scheduler(count, { schedule: "effects", limit: Infinity }, owner)
    scheduler.begin(accesses)
    for (let index = count - 1; index >= 0; index--) {
      scheduler.begun(index)
      scheduler.ended(index, { halt: "halt" })
    }
    expect(scheduler.halts[0]).toBe(0)
  })
}

test("SCHED5 a halt costs the same in a batch of a hundred times as many", async () => {
  expect(await dearer(5, haltingBatches(measured), haltingBatches(measured / 100))).toBeLessThan(bound)
})
