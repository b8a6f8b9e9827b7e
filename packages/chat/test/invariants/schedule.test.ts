import { it } from "@effect/vitest"
import { Schema } from "effect"
import { expect, test } from "vitest"
import { type Access, planOf } from "../../src/batch/startOrder.ts"
import { planOfBatch, planWithout } from "../../src/batch/batchPlan.ts"
import { make } from "../../src/tool/Tool.ts"
import type { Schedule } from "../../src/options/ChatOptions.ts"

/** Calls in short: `r` and `w` without a key, `ra` and `wb` with one. */
const accessOf = (word: string): Access => ({
  effect: word.startsWith("r") ? "read" : "write",
  ...(word.length > 1 ? { key: word.slice(1) } : {})
})

/** The waves in which calls start when those of a wave end together. */
const waves = (words: ReadonlyArray<string>, schedule: Schedule = "effects"): ReadonlyArray<string> => {
  const plan = planOf(words, accessOf, schedule)
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
  const plan = planOf(words, accessOf)
  expect([plan.take(), plan.take()]).toEqual([0, undefined])
  plan.ended(0)
  expect([plan.take(), plan.take(), plan.take(), plan.take()]).toEqual([1, 2, 3, undefined])
  const crossed = planOf(["wa", "wb", "ra", "rb"], accessOf)
  expect([crossed.take(), crossed.take()]).toEqual([0, 1])
  crossed.ended(1)
  crossed.ended(0)
  expect([crossed.take(), crossed.take()]).toEqual([2, 3])
})

/** What SCHED1 to SCHED3 say of two calls, word for word; each pair is looked at. */
const mayStart = (accesses: ReadonlyArray<Access>, ended: ReadonlySet<number>, call: number, schedule: Schedule) => {
  const { effect, key } = accesses[call] as Access
  return accesses.every((other, at) => {
    if (ended.has(at) || at === call || schedule === "concurrent") return true
    if (schedule === "reference")
      return effect === "read" ? other.effect === "read" : other.effect === "read" || at > call
    if (at > call || (effect === "read" && other.effect === "read")) return true
    return key !== undefined && other.key !== undefined && key !== other.key
  })
}

const anyWords = Schema.Array(Schema.Literals(["r", "w", "ra", "wa", "rb", "wb", "rc", "wc"]))
const anyChoices = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000 })))

it.prop(
  "SCHED1 SCHED2 SCHED3 SCHED4 a plan gives what looking at each pair of calls gives, in whichever order they end",
  { words: anyWords, choices: anyChoices, schedule: Schema.Literals(["effects", "reference", "concurrent"]) },
  ({ words, choices, schedule }) => {
    const accesses = words.map(accessOf)
    const plan = planOf(words, accessOf, schedule)
    const taken = new Set<number>()
    const ended = new Set<number>()
    for (let turn = 0; ended.size < words.length; turn++) {
      const expected = words
        .map((_, call) => call)
        .filter((call) => !taken.has(call) && mayStart(accesses, ended, call, schedule))
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
  { arbitrary: { runs: 400 } }
)

const Step = Schema.Struct({
  drops: Schema.Boolean,
  which: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000 }))
})
const anySteps = Schema.Array(Step).check(Schema.isMinLength(1))

it.prop(
  "SCHED1 SCHED2 SCHED3 a plan that is made again without a call gives what it would have given had that ended",
  { words: anyWords, steps: anySteps, schedule: Schema.Literals(["effects", "reference", "concurrent"]) },
  ({ words, steps, schedule }) => {
    const accesses = words.map(accessOf)
    const tools = new Map(
      accesses.map((access, call) => [`${call}`, make({ name: `${call}`, ...access, key: () => access.key })])
    )
    const calls = words.map((_, call) => ({ id: `${call}`, name: `${call}`, arguments: {} }))
    const [taken, ended] = [new Set<number>(), new Set<number>()]
    let order = planOfBatch(calls, tools, () => false, schedule)
    for (let turn = 0; ended.size < words.length; turn++) {
      const all = words.map((_, call) => call)
      const expected = all.filter(
        (call) => !taken.has(call) && !ended.has(call) && mayStart(accesses, ended, call, schedule)
      )
      const given: Array<number> = []
      for (let call = order.plan.take(); call !== undefined; call = order.plan.take()) {
        if (!ended.has(call) && !taken.has(call)) given.push(call)
      }
      expect(given).toEqual(expected)
      for (const call of given) taken.add(call)
      const { drops, which } = steps[turn % steps.length] as typeof Step.Type
      const [running, queued] = [
        all.filter((call) => taken.has(call) && !ended.has(call)),
        all.filter((call) => !taken.has(call) && !ended.has(call))
      ]
      const from = drops && queued.length > 0 ? queued : running
      const over = from[which % from.length] as number
      ended.add(over)
      if (from === running) order.plan.ended(over)
      else order = planWithout(order, (call) => ended.has(call), schedule)
    }
  },
  { arbitrary: { runs: 400 } }
)
