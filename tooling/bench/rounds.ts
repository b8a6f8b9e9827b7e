/** Rounds of contenders: each run is a process of its own, and the contenders take turns. */
import { fork } from "node:child_process"
import { type ContenderName, contenderOf } from "./contenders.ts"
import type { Costs, Quantity } from "./work/timed.ts"

/** How contenders run. */
export interface Running {
  readonly rounds: number
  /** The folder of the built packages, if a contender imports them. */
  readonly built?: string | undefined
  /** The folder for a CPU profile of each run. */
  readonly profile?: string | undefined
  /** Takes a line about the progress. */
  readonly report: (line: string) => void
}

const attempts = 3
const longestMs = 300_000

/** Runs a contender once, in a new process. */
export const runOnce = (
  name: ContenderName,
  { built = "", profile }: Partial<Pick<Running, "built" | "profile">> = {}
): Promise<Costs> =>
  new Promise((resolve, reject) => {
    const profiling = profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profile}`]
    const execArgv = ["--expose-gc", ...(contenderOf(name).flags ?? []), ...profiling]
    const child = fork(new URL("child.ts", import.meta.url), [name, built], { execArgv, timeout: longestMs })
    let costs: Costs | undefined
    child.once("message", (measured: Costs) => (costs = measured))
    child.once("error", reject)
    child.once("exit", (code, signal) => {
      if (costs === undefined || code !== 0) reject(new Error(`${name} ended with ${code ?? signal}`))
      else resolve(costs)
    })
  })

const describe = (costs: Costs): string =>
  Object.entries(costs)
    .map(([quantity, value]) => `${quantity} ${value.toFixed(1)}`)
    .join(", ")

/** A run that fails is reported and repeated. After the last attempt it has no costs. */
const runReported = async (name: ContenderName, running: Running, title: string): Promise<Costs> => {
  for (let attempt = 1; attempt <= attempts; attempt++) {
    try {
      const costs = await runOnce(name, running)
      running.report(`${title} ${name}: ${describe(costs)}`)
      return costs
    } catch (error) {
      running.report(`${title} ${name}: failed, attempt ${attempt} of ${attempts}: ${String(error)}`)
    }
  }
  return {}
}

/** The middle one of the sorted values; not a number when there is none. */
export const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN

/** Measured values by their key. */
export class Samples {
  readonly #values = new Map<string, Array<number>>()

  add(key: string, value: number): void {
    this.#values.set(key, [...this.values(key), value])
  }

  values(key: string): ReadonlyArray<number> {
    return this.#values.get(key) ?? []
  }

  /** Not a number when there is no value. */
  median(key: string): number {
    return median(this.values(key))
  }
}

/** The key of a contender's quantity. */
export const keyOf = (name: ContenderName, quantity: Quantity): string => `${name}: ${quantity}`

/** Runs each contender once in each round. */
export const runRounds = async (names: ReadonlyArray<ContenderName>, running: Running): Promise<Samples> => {
  const results = new Samples()
  for (let round = 1; round <= running.rounds; round++) {
    for (const name of names) {
      const costs = await runReported(name, running, `round ${round}/${running.rounds}`)
      for (const [quantity, value] of Object.entries(costs)) results.add(keyOf(name, quantity as Quantity), value)
    }
  }
  return results
}
