import { expect, test } from "vitest"
import * as Dispatch from "../../src/dispatch/Dispatch.ts"
import { dearer, type Measured } from "./cost.ts"

/** What is quadratic costs ten times as much for each; what is linear may still miss the processor's caches. */
const bound = 5
const rounds = 7

type Schedule = "effects" | "reference"

const tools = [{ name: "r", effect: "read" as const }, { name: "w" }]

/** How many calls are measured together. */
const measured = 5_000

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
    `a call costs the same among ten times as many (${schedule}): %s`,
    async (_, nameOf) => {
      const [few, many] = [batches(measured / 10, nameOf, schedule), batches(measured, nameOf, schedule)]
      expect(await dearer(rounds, many, few)).toBeLessThan(bound)
    }
  )
}
