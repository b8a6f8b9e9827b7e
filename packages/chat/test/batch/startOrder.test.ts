import { it } from "@effect/vitest"
import { Schema } from "effect"
import { expect, test } from "vitest"
import type { Schedule } from "../../src/options/ChatOptions.ts"
import { planOf } from "../../src/batch/startOrder.ts"
import { accessOf, blocks } from "./naiveScheduler.ts"
import { runsOf } from "../../../../tooling/verify/volume.ts"

/** The waves in which calls start when those of a wave end together. */
const waves = (words: ReadonlyArray<string>, schedule: Schedule = "effects"): ReadonlyArray<string> => {
  const plan = planOf(words.map(accessOf), schedule)
  const found: Array<string> = []
  for (;;) {
    const wave: Array<number> = []
    for (let call = plan.take(); call !== undefined; call = plan.take()) wave.push(call)
    if (wave.length === 0) return found
    found.push(wave.map((call) => `${words[call]}${call}`).join(" "))
    for (const call of wave) plan.ended(call)
  }
}

test("SCHED1 reads run together", () => {
  expect(waves(["r", "ra", "rb", "r"])).toEqual(["r0 ra1 rb2 r3"])
})

test("SCHED1 writes without a key run one after another in call order", () => {
  expect(waves(["w", "w", "w"])).toEqual(["w0", "w1", "w2"])
})

test("SCHED1 writes of equal keys never overlap; those of different keys may", () => {
  expect(waves(["wa", "wb", "wa", "wb"])).toEqual(["wa0 wb1", "wa2 wb3"])
})

test("SCHED1 a read behind a write of its key, or of one without a key, starts after it", () => {
  expect(waves(["wa", "ra", "rb", "r"])).toEqual(["wa0 rb2", "ra1 r3"])
  expect(waves(["w", "ra", "r"])).toEqual(["w0", "ra1 r2"])
})

test("SCHED1 a read in front of a write is over before that starts", () => {
  expect(waves(["r", "r", "wa", "w"])).toEqual(["r0 r1", "wa2", "w3"])
  expect(waves(["ra", "wa", "wb"])).toEqual(["ra0 wb2", "wa1"])
})

test("SCHED2 under reference what is no read comes first, one after another, then the reads together", () => {
  expect(waves(["r", "wa", "ra", "wb", "w"], "reference")).toEqual(["wa1", "wb3", "w4", "r0 ra2"])
})

test("SCHED3 under concurrent nothing waits", () => {
  expect(waves(["w", "w", "ra", "wa"], "concurrent")).toEqual(["w0 w1 ra2 wa3"])
})

test("SCHED4 of the calls that may start the first in call order is given, whichever became free first", () => {
  const words = ["w", "r", "ra", "rb"]
  const plan = planOf(words.map(accessOf))
  expect([plan.take(), plan.take()]).toEqual([0, undefined])
  plan.ended(0)
  expect([plan.take(), plan.take(), plan.take(), plan.take()]).toEqual([1, 2, 3, undefined])
  const crossed = planOf(["wa", "wb", "ra", "rb"].map(accessOf))
  expect([crossed.take(), crossed.take()]).toEqual([0, 1])
  crossed.ended(1)
  crossed.ended(0)
  expect([crossed.take(), crossed.take()]).toEqual([2, 3])
})

const anyWords = Schema.Array(Schema.Literals(["r", "w", "ra", "wa", "rb", "wb", "rc", "wc"]))
const anyChoices = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000 })))

it.prop(
  "SCHED1 SCHED2 SCHED3 SCHED4 a plan gives what looking at each pair of calls gives, in whichever order they end",
  { words: anyWords, choices: anyChoices, schedule: Schema.Literals(["effects", "reference", "concurrent"]) },
  ({ words, choices, schedule }) => {
    const accesses = words.map(accessOf)
    const plan = planOf(words.map(accessOf), schedule)
    const taken = new Set<number>()
    const ended = new Set<number>()
    for (let turn = 0; ended.size < words.length; turn++) {
      const expected = words
        .map((_, call) => call)
        .filter((call) => !taken.has(call))
        .filter((call) => accesses.every((_, other) => ended.has(other) || !blocks(accesses, schedule, other, call)))
      const given: Array<number> = []
      for (let call = plan.take(); call !== undefined; call = plan.take()) given.push(call)
      expect(given).toEqual(expected)
      for (const call of given) taken.add(call)
      const running = [...taken].filter((call) => !ended.has(call))
      const over = running[(choices[turn % Math.max(1, choices.length)] ?? 0) % running.length] as number
      ended.add(over)
      plan.ended(over)
    }
  },
  runsOf(400)
)
