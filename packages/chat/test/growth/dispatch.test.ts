import { expect, test } from "vitest"
import * as Dispatch from "../../src/Dispatch.ts"

/** What is quadratic costs ten times as much for each; what is linear may still miss the processor's caches. */
const bound = 4

const tools = [{ name: "r", effect: "read" as const }, { name: "w" }]

/** Milliseconds for each of `count` calls, at best. */
const cheapest = async (count: number, nameOf: (index: number) => string, schedule: "effects" | "reference") => {
  const calls = Array.from({ length: count }, (_, index) => ({ id: `c${index}`, name: nameOf(index), arguments: {} }))
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < 5; round++) {
    const began = performance.now()
    const run = await Dispatch.run(
      calls,
      { tools, budget: 0, maxConcurrency: Infinity },
      (_, state) => [1, { ...state, budget: state.budget + 1 }],
      { schedule }
    )
    best = Math.min(best, (performance.now() - began) / count)
    expect(run.type === "ok" && run.results.length).toBe(count)
    if (schedule === "effects") expect(run.state.budget).toBe(count)
  }
  return best
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
      await cheapest(500, nameOf, schedule)
      const [many, few] = [await cheapest(5_000, nameOf, schedule), await cheapest(500, nameOf, schedule)]
      expect(many / few).toBeLessThan(bound)
    }
  )
}
