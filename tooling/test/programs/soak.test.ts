import { Clock } from "@troupe/otp"
import process from "node:process"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { heapOf } from "../../lab/chats/heap.ts"
import { soakOf } from "../../lab/chats/soak.ts"
import { wrongRepeat } from "../../lab/check/counts.ts"
import { seedsOf } from "../../verify/volume.ts"

let rejections = 0
const rejected = () => void (rejections += 1)

beforeEach(() => {
  rejections = 0
  process.on("unhandledRejection", rejected)
})

afterEach(() => void process.off("unhandledRejection", rejected))

/** A short soak on a test clock: what it came to, and what was wrong. */
const soaked = async (seed: number, eras = 5, acts = 120) => {
  const soak = soakOf(seed, 4, Clock.test())
  for (let era = 0; era < eras; era++) await soak.era(acts)
  await soak.stop()
  await new Promise<void>((resolve) => void setImmediate(resolve))
  soak.counts.add("unhandled rejections", rejections)
  return { counts: soak.counts, wrong: soak.wrong() }
}

test.each(seedsOf(10))(
  "LAB5. LAB18. LAB19. LAB20. LAB21. whatever happens, every call has one outcome and everything opened is released: seed %i",
  async (seed) => {
    const { counts, wrong } = await soaked(seed)
    expect(wrong).toEqual([])
    for (const counted of ["calls stored", "turns with a result", "handlers started", "late completions"]) {
      expect([counted, counts.get(counted) > 0]).toEqual([counted, true])
    }
  }
)

test("LAB22. the same seed on a test clock comes to the same counts", async () => {
  const [once, again] = [await soaked(5, 2, 80), await soaked(5, 2, 80)]
  expect(wrongRepeat(once.counts, again.counts)).toEqual([])
  expect(wrongRepeat(once.counts, (await soaked(6, 2, 80)).counts)).not.toEqual([])
})

test("LAB21. an unhandled rejection is a fault", async () => {
  const soak = soakOf(1, 1, Clock.test())
  await soak.stop()
  soak.counts.add("unhandled rejections")
  expect(soak.wrong()).toEqual(["LAB21: unhandled rejections: 1"])
})

describe("LAB23. the heap", () => {
  const mega = 2 ** 20
  const isFlat = (sizeAt: (index: number) => number, count = 60) =>
    heapOf(Array.from({ length: count }, (_, index) => sizeAt(index)))?.isFlat
  const noise = (index: number) => (((index * 7919) % 13) / 13) * mega

  test("is flat where it only moves up and down", () => {
    expect(isFlat((index) => 20 * mega + noise(index))).toBe(true)
  })

  test("is flat where it falls, and where it grows at first only", () => {
    expect(isFlat((index) => 20 * mega - index * 20_000)).toBe(true)
    expect(isFlat((index) => (index < 8 ? index : 8) * mega + noise(index))).toBe(true)
  })

  test("grows where each minute leaves something behind", () => {
    expect(isFlat((index) => 20 * mega + noise(index) + index * 100_000)).toBe(false)
  })

  test("is not judged by a few samples", () => {
    expect(isFlat(() => mega, 45)).toBeUndefined()
  })
})
