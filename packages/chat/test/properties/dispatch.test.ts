import { expect, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as Dispatch from "../../src/batch/Dispatch.ts"
import { type Act, type BatchState, dispatched } from "../double/dispatching.ts"
import { runsOf } from "../../../../tooling/verify/volume.ts"

const Call = Schema.Struct({
  name: Schema.Literals(["r", "w", "r.a", "w.a", "w.b"]),
  ms: Schema.Literals([0, 3, 5, 8, 200]),
  ends: Schema.Literals(["well", "well", "well", "throws", "halts"]),
  spends: Schema.Literals([0, 1, 10])
})
const Batch = Schema.Struct({ calls: Schema.Array(Call), limit: Schema.Literals([1, 2, 4, 100]) })
type Call = typeof Call.Type

const actOf = ({ ms, ends, spends }: Call, index: number): Act => ({
  ms,
  result: ends === "halts" ? Dispatch.halt(index) : index,
  change: (state: BatchState) => ({ ...state, budget: (state.budget ?? 0) + spends }),
  ...(ends === "throws" ? { throws: new Error("boom") } : {})
})

const run = ({ calls, limit }: typeof Batch.Type) =>
  dispatched(Object.fromEntries(calls.map((call, index) => [`${call.name}${index}`, actOf(call, index)])), {
    budget: 0,
    consecutiveMistakes: 0,
    maxConcurrency: limit,
    toolTimeoutMs: 100
  })

/** A call that takes 200 ms is late. */
const endOf = ({ ms, ends }: Call): "late" | Call["ends"] => (ms === 200 ? "late" : ends)

it.effect.prop(
  "DISP1, DISP4 whatever calls do and how long they take: one result each in its place, and what ran is in the state",
  { batch: Batch },
  ({ batch }) =>
    Effect.promise(async () => {
      const { calls } = batch
      const halted = calls.findIndex((call) => endOf(call) === "halts")
      const seen = await run(batch)
      expect(seen.run).toMatchObject(halted < 0 ? { type: "ok" } : { type: "halt", reason: halted })
      const results = seen.run.results ?? []
      expect(results.length).toBe(calls.length)
      const ran = calls.map((call, index) => `${call.name}${index}` in seen.given)
      let [spent, mistakes] = [0, 0]
      for (const [index, call] of calls.entries()) {
        const result = results[index]
        const end = endOf(call)
        if (halted < 0 || index <= halted) expect(ran[index]).toBe(true)
        if (ran[index] !== true) {
          expect(Dispatch.isFailure(result) && result.outcome).toBe("not_started")
        } else if (end === "throws" || end === "late") {
          mistakes++
          expect(Dispatch.isFailure(result) && result.outcome).toBe(end === "late" ? "timed_out" : "failed")
        } else {
          spent += call.spends
          expect(result).toEqual(end === "halts" ? Dispatch.halt(index) : index)
        }
      }
      expect(seen.run.state).toMatchObject({ budget: spent, consecutiveMistakes: mistakes })
    }),
  runsOf(100)
)

it.effect.prop(
  "the same calls, latencies and limit give the same trace and the same state",
  { batch: Batch },
  ({ batch }) =>
    Effect.promise(async () => {
      const [one, other] = [await run(batch), await run(batch)]
      expect(one.trace).toEqual(other.trace)
      expect(one.run.state).toEqual(other.run.state)
    }),
  runsOf(100)
)
