import { expect, test } from "vitest"
import * as Dispatch from "../../src/Dispatch.ts"

/** What is quadratic costs ten times as much for each; what is linear may still miss the processor's caches. */
const bound = 5
const rounds = 7

type Schedule = "effects" | "reference"

const tools = [{ name: "r", effect: "read" as const }, { name: "w" }]

/** Milliseconds for each of `count` calls. */
const cost = async (count: number, nameOf: (index: number) => string, schedule: Schedule): Promise<number> => {
  const calls = Array.from({ length: count }, (_, index) => ({ id: `c${index}`, name: nameOf(index), arguments: {} }))
  const began = performance.now()
  const run = await Dispatch.run(
    calls,
    { tools, budget: 0, maxConcurrency: 64 },
    (_, state) => [1, { ...state, budget: state.budget + 1 }],
    { schedule }
  )
  const taken = performance.now() - began
  expect(run.type === "ok" && run.results.length).toBe(count)
  if (schedule === "effects") expect(run.state.budget).toBe(count)
  return taken / count
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
      const [few, many]: [Array<number>, Array<number>] = [[], []]
      for (let round = 0; round < rounds; round++) {
        few.push(await cost(500, nameOf, schedule))
        many.push(await cost(5_000, nameOf, schedule))
      }
      expect(Math.min(...many) / Math.min(...few)).toBeLessThan(bound)
    }
  )
}
