import { expect, test } from "vitest"
import * as Dispatch from "../../src/batch/Dispatch.ts"
import { dearer, type Measured } from "./cost.ts"

/** The order of a call costs as much as its batch has calls, whose number is bounded (BATCH11); within the bound that is little. */
const bound = 2
const rounds = 7

type Schedule = "effects" | "reference"

const tools = [{ name: "r", effect: "read" as const }, { name: "w" }]

/** How many calls are measured together. */
const measured = 5_120

/** As many as run by default, and an eighth of them. */
const [most, fewer] = [128, 16]

/** So many calls, in batches of `count`. */
const batches = (count: number, nameOf: (index: number) => string, schedule: Schedule): Measured => {
  const calls = Array.from({ length: count }, (_, index) => ({ id: `c${index}`, name: nameOf(index), arguments: {} }))
  const state = { tools, budget: 0, maxConcurrency: 64 }
  const runner: Dispatch.Runner<typeof state, number> = (_, { budget, ...rest }) => [1, { ...rest, budget: budget + 1 }]
  return {
    run: async () => {
      for (let ran = 0; ran < measured; ran += count) {
        const run = await Dispatch.run(calls, state, runner, { schedule })
        expect(run.type === "ok" && run.results.length).toBe(count)
        if (schedule === "effects") expect(run.state.budget).toBe(count)
      }
    }
  }
}

const mixes: Readonly<Record<string, (index: number) => string>> = {
  "reads only": () => "r",
  "writes only": () => "w",
  "reads and writes in turns": (index) => (index % 2 === 0 ? "r" : "w")
}

for (const schedule of ["effects", "reference"] as const) {
  test.each(Object.entries(mixes))(
    `a call among 128, the most that run by default, costs at most twice as much as one among 16 (${schedule}): %s`,
    async (_, nameOf) => {
      const [few, many] = [batches(fewer, nameOf, schedule), batches(most, nameOf, schedule)]
      expect(await dearer(rounds, many, few)).toBeLessThan(bound)
    }
  )
}
