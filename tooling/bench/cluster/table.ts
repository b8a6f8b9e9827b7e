/** The printed table of a cluster's figures, and its verdict. */
import type { Samples } from "../rounds.ts"
import { show } from "../table.ts"
import { type Verdict, verdictOf } from "../verdict.ts"
import { type ClusterLine, clusterLines } from "./lines.ts"

/** The measured figure of a line; not a number without samples. */
export const measuredOf = ({ key, group }: ClusterLine, samples: Samples): number => {
  if (group !== "failures") return samples.median(key)
  return samples.values(key).length === 0 ? NaN : Math.max(...samples.values(key))
}

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
