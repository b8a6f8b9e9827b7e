/** Rounds of contenders: each run is a process of its own, and the contenders take turns. */
import { fork } from "node:child_process"
import { type ContenderName, contenderOf } from "./contenders.ts"
import { type Costs, median, type Quantity } from "./work/timed.ts"

const longestMs = 300_000

/** Runs a contender once, in a new process; `profile` is the folder for its CPU profile. */
export const runOnce = (name: ContenderName, profile?: string): Promise<Costs> =>
  new Promise((resolve, reject) => {
    const profiling = profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profile}`]
    const execArgv = ["--expose-gc", ...(contenderOf(name).flags ?? []), ...profiling]
    const child = fork(new URL("child.ts", import.meta.url), [name], { execArgv, timeout: longestMs })
    let costs: Costs | undefined
    child.once("message", (measured: Costs) => (costs = measured))
    child.once("error", reject)
    child.once("exit", (code, signal) => {
      if (costs === undefined || code !== 0) reject(new Error(`${name} ended with ${code ?? signal}`))
      else resolve(costs)
    })
  })

/** Measured values by their key. */
export class Samples {
  readonly #values = new Map<string, Array<number>>()

  add(key: string, value: number): void {
    this.#values.set(key, [...this.values(key), value])
  }

  /** Forgets the values whose keys begin with the text. */
  drop(beginning: string): void {
    for (const key of this.#values.keys()) if (key.startsWith(beginning)) this.#values.delete(key)
  }

  values(key: string): ReadonlyArray<number> {
    return this.#values.get(key) ?? []
  }

  /** Not a number when there is no value. */
  median(key: string): number {
    return median(this.values(key))
  }

  /** The largest value; not a number when there is none. */
  worst(key: string): number {
    const values = this.values(key)
    return values.length === 0 ? NaN : Math.max(...values)
  }
}

/** The key of a contender's quantity. */
export const keyOf = (name: ContenderName, quantity: Quantity | ""): string => `${name}: ${quantity}`

/** Runs each contender once in each round. One with a run that fails has no costs, and runs no more. */
export const runRounds = async (
  names: ReadonlyArray<ContenderName>,
  rounds: number,
  report: (line: string) => void,
  profile?: string
): Promise<Samples> => {
  const results = new Samples()
  const running = new Set(names)
  for (let round = 1; round <= rounds; round++) {
    for (const name of running) {
      const title = `round ${round}/${rounds} ${name}`
      try {
        const costs = Object.entries(await runOnce(name, profile))
        for (const [quantity, value] of costs) results.add(keyOf(name, quantity as Quantity), value)
        report(`${title}: ${costs.map(([quantity, value]) => `${quantity} ${value.toFixed(1)}`).join(", ")}`)
      } catch (error) {
        running.delete(name)
        results.drop(keyOf(name, ""))
        report(`${title}: ${String(error)}`)
      }
    }
  }
  return results
}
