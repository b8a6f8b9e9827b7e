/** The printed table. */
import type { ContenderName } from "./contenders.ts"
import type { Line } from "./lines.ts"
import { keyOf, type Samples } from "./rounds.ts"
import { verdictOf } from "./verdict.ts"

/** A number with as many places as matter. */
export const show = (value: number): string =>
  Number.isInteger(value) || value >= 100 ? value.toFixed(0) : value.toFixed(value < 10 ? 2 : 1)

const row = (name: string, figure: string, ...cells: ReadonlyArray<string>): string =>
  name.padEnd(52) + figure.padEnd(34) + cells.map((cell) => cell.padStart(10)).join("")

/** The rows of the table. */
export const tableOf = (lines: ReadonlyArray<Line>, results: Samples): ReadonlyArray<string> => [
  row("", "", "measured", "bound", "aim", ""),
  ...lines.flatMap(({ key, name, figures }) =>
    figures.map(({ name: figure, measure, limit }, index) => {
      const measured = measure.of(results)
      const title = index === 0 ? `${key.padEnd(10)}${name}` : ""
      return row(title, figure, show(measured), show(limit.bound), show(limit.aim), verdictOf(measured, limit))
    })
  )
]

/** The costs of the contenders: medians, with the least and the most. */
export const costsOf = (names: ReadonlyArray<ContenderName>, results: Samples): ReadonlyArray<string> => {
  const cell = (name: ContenderName, quantity: "cpuMs" | "peakMb"): string => {
    const values = results.values(keyOf(name, quantity))
    if (values.length === 0) return ""
    return `${show(results.median(keyOf(name, quantity)))} (${show(Math.min(...values))}–${show(Math.max(...values))})`
  }
  const timed = names.filter((name) => results.values(keyOf(name, "cpuMs")).length > 0)
  return [
    `${"".padEnd(20)}${"processor time, ms".padStart(28)}${"peak heap, MB".padStart(28)}`,
    ...timed.map((name) => name.padEnd(20) + cell(name, "cpuMs").padStart(28) + cell(name, "peakMb").padStart(28))
  ]
}

/** Whether no figure fails. */
export const isGood = (lines: ReadonlyArray<Line>, results: Samples): boolean =>
  lines.every(({ figures }) => figures.every(({ measure, limit }) => verdictOf(measure.of(results), limit) !== "FAILS"))
