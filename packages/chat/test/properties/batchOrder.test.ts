import { expect, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { Outcome } from "../../src/model/Outcome.ts"
import type { ToolCall } from "../../src/model/ToolCall.ts"
import * as ToolRunner from "../../src/session/ToolRunner.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { timedCalls, timedTools } from "../double/timedTools.ts"
import type { Schedule } from "../../src/options/ChatOptions.ts"
import { runsOf } from "../../../../tooling/verify/volume.ts"

const check = leakCheck()

const Call = Schema.Struct({
  kind: Schema.Literals(["r", "w"]),
  ms: Schema.Literals([0, 1, 5, 20]),
  key: Schema.Literals(["", "", "a", "b"]),
  ending: Schema.Literals(["", "", "", "", "!halt", "!ask", "!fail"])
})

const Batch = Schema.Struct({
  calls: Schema.Array(Call).check(Schema.isMaxLength(12)),
  schedule: Schema.Literals(["effects", "effects", "reference", "concurrent"]),
  maxConcurrency: Schema.Literals([1, 2, 3, 100]),
  onToolError: Schema.Literals(["continue", "continue", "halt"])
})
type Batch = typeof Batch.Type

interface Ran {
  readonly from: number
  readonly to: number
}

/** The calls in short, each with its place as id. */
const callsOf = ({ calls }: Batch): ReadonlyArray<ToolCall> =>
  timedCalls(...calls.map(({ kind, ms, key, ending }) => `${kind}${ms}${key}${ending}`)).map((call, index) => ({
    ...call,
    id: String(index)
  }))

const runBatch = async (batch: Batch) => {
  const { system, clock } = check.system()
  const { tools, runs } = timedTools(clock)
  const { schedule, maxConcurrency, onToolError } = batch
  const options = { system, schedule, maxConcurrency, onToolError }
  const { messages } = await clock.run(ToolRunner.runToolCalls(callsOf(batch), tools, options))
  const ran = new Map<number, Ran>()
  for (const line of runs()) {
    const [id, times = ""] = line.split(" ")
    const [from, to] = times.split("-").map(Number)
    ran.set(Number(id), { from: from ?? Number.NaN, to: to ?? Number.NaN })
  }
  return { ran, outcomes: messages.map(({ outcome }) => outcome) }
}

const conflicts = (schedule: Schedule, one: Batch["calls"][number], other: Batch["calls"][number]): boolean => {
  if (schedule === "concurrent" || (one.kind === "r" && other.kind === "r")) return false
  return schedule === "reference" || one.key === "" || other.key === "" || one.key === other.key
}

/** Whether the first of two calls that conflict comes first. */
const inOrder = ({ calls, schedule }: Batch, ran: ReadonlyMap<number, Ran>): void => {
  for (const [first, one] of ran) {
    for (const [second, other] of ran) {
      const [call, next] = [calls[first], calls[second]]
      if (call === undefined || next === undefined || first >= second || !conflicts(schedule, call, next)) continue
      const readFirst = schedule === "reference" && call.kind === "r"
      expect(readFirst ? one.from : other.from).toBeGreaterThanOrEqual(readFirst ? other.to : one.to)
    }
  }
}

const atOnce = (ran: ReadonlyMap<number, Ran>): number =>
  Math.max(
    0,
    ...Array.from(
      ran.values(),
      ({ from }) => [...ran.values()].filter((one) => one.from < from && from < one.to).length
    )
  )

const ended = (call: Batch["calls"][number], onToolError: Batch["onToolError"]): boolean =>
  call.ending === "!halt" || (call.ending === "!fail" && onToolError === "halt")

it.effect.prop(
  "BATCH1 SCHED8 SCHED1-SCHED3 whatever is called, conflicting calls never overlap, and behind a halt nothing starts",
  { batch: Batch },
  ({ batch }) =>
    Effect.promise(async () => {
      const { ran, outcomes } = await runBatch(batch)
      const { calls, schedule, maxConcurrency, onToolError } = batch
      inOrder(batch, ran)
      expect(atOnce(ran)).toBeLessThanOrEqual(maxConcurrency - 1)
      const halt = Math.min(
        ...Array.from(ran, ([index, { to }]) => {
          const call = calls[index]
          return call !== undefined && ended(call, onToolError) ? to : Number.POSITIVE_INFINITY
        })
      )
      const expected = calls.map(({ ending }, index): Outcome => {
        if (!ran.has(index)) return "not_started"
        return ending === "!fail" ? "failed" : "completed"
      })
      expect(outcomes).toEqual(expected)
      if (schedule === "concurrent") expect(ran.size).toBe(calls.length)
      if (halt === Number.POSITIVE_INFINITY) expect(ran.size).toBe(calls.length)
      for (const [index, { from }] of ran) {
        const stopped = [...ran].some(([other, { to }]) => {
          const call = calls[other]
          const behind = schedule === "reference" || other < index
          return call !== undefined && ended(call, onToolError) && behind && to < from
        })
        expect(stopped && schedule !== "concurrent").toBe(false)
      }
    }),
  runsOf(300)
)
