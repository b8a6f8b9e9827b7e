/** The samples of a cluster's figures, the printed table, and its verdict. */
import { median } from "../rounds.ts"
import { show, type Verdict, verdictOf } from "../table.ts"
import { type ClusterLine, clusterLines } from "./lines.ts"

/** The samples of each figure, by its key. */
export class Samples {
  readonly #values = new Map<string, Array<number>>()

  add(key: string, value: number): void {
    const known = this.#values.get(key)
    if (known === undefined) this.#values.set(key, [value])
    else known.push(value)
  }

  /** Not a number when there is none. */
  median(key: string): number {
    return median(this.#values.get(key) ?? [])
  }

  worst(key: string): number {
    const values = this.#values.get(key) ?? []
    return values.length === 0 ? NaN : Math.max(...values)
  }
}

/** The measured figure of a line. */
export const measuredOf = ({ key, choice }: ClusterLine, samples: Samples): number =>
  choice === "worst" ? samples.worst(key) : samples.median(key)

/** The verdict of a line. There is no tolerance. */
const verdictIn = (line: ClusterLine, samples: Samples): Verdict => verdictOf(measuredOf(line, samples), line.limit, 0)

/** The rows of the table. */
export const clusterTable = (samples: Samples, chosen = clusterLines): ReadonlyArray<string> => {
  const row = (name: string, ...cells: ReadonlyArray<string>): string =>
    name.padEnd(64) + cells.map((cell) => cell.padStart(12)).join("")
  return [
    row("", "measured", "bound", "aim", "", "one process"),
    ...chosen.map((line) => {
      const { name, limit, beside } = line
      const least = limit.isLeast === true ? "≥ " : ""
      const other = beside === undefined ? "" : show(samples.median(beside))
      const cells = [show(measuredOf(line, samples)), least + show(limit.bound), least + show(limit.aim)]
      return row(name, ...cells, verdictIn(line, samples), other)
    })
  ]
}

/** Whether no figure is beyond its bound. */
export const isClusterGood = (samples: Samples, chosen = clusterLines): boolean =>
  chosen.every((line) => verdictIn(line, samples) !== "FAILS")
