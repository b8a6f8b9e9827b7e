/**
 * The test runner's reporter of the house: the seed of the run, its ten slowest files, what failed, and its tally as the last line.
 *
 * @module
 */
import { relative } from "node:path"
import type { Reporter } from "vitest/node"
import { root } from "../house/workspace.ts"
import { tally, tallyLine } from "./tally.ts"
import { runSeed } from "./volume.ts"

const secondsOf = (ms: number): string => (ms / 1000).toFixed(1).padStart(6)

/** Prints after the runner's own summary. */
export const reporter: Reporter = {
  onTestRunEnd(modules, unhandledErrors) {
    const files = modules.map((module) => ({
      name: module.moduleId,
      collected: module.errors().length === 0,
      states: Array.from(module.children.allTests(), (test) => test.result().state)
    }))
    const slowest = modules
      .map((module) => {
        const { duration, collectDuration } = module.diagnostic()
        return { path: relative(root, module.moduleId), ms: duration + collectDuration }
      })
      .toSorted((a, b) => b.ms - a.ms)
      .slice(0, 10)
    const failures = modules.flatMap((module) =>
      Array.from(module.children.allTests("failed"), (test) => {
        const [first = ""] = test.result().errors?.map(({ message }) => message.split("\n", 1)[0]) ?? []
        return `failed: ${relative(root, module.moduleId)}: ${test.fullName}: ${first}`
      })
    )
    const lines = [
      "",
      "the ten slowest files, in seconds with their imports:",
      ...slowest.map(({ path, ms }) => `${secondsOf(ms)} ${path}`),
      `seed ${runSeed} (TROUPE_SEED=${runSeed} repeats the random programs of this run)`,
      ...failures,
      tallyLine(tally(files, unhandledErrors.length === 0))
    ]
    process.stdout.write(`${lines.join("\n")}\n`)
  }
}
