/** The printed table, and the verdict about a measured figure. */
import type { ContenderName } from "./contenders.ts"
import { keyOf, type Samples } from "./rounds.ts"
import type { Quantity } from "./work/timed.ts"

/** The limits of one figure. `pnpm bench` fails when a figure is beyond its bound. An aim is a target, and no condition. */
export interface Limit {
  readonly bound: number
  readonly aim: number
  /** Whether the figure is to be at least these numbers. By default it is to be at most them. */
  readonly isLeast?: boolean
}

/** What a measured figure is, compared with its limits. A figure that is not a number fails. */
type Verdict = "in aim" | "in bound" | "beyond aim" | "FAILS"

/** Compares a figure with its limits. */
export const verdictOf = (measured: number, { bound, aim, isLeast = false }: Limit): Verdict => {
  const isWithin = (limit: number): boolean => (isLeast ? measured >= limit : measured <= limit)
  if (isWithin(aim)) return "in aim"
  return !isWithin(bound) ? "FAILS" : bound === Infinity ? "beyond aim" : "in bound"
}

/** A number with as many places as matter. */
export const show = (value: number): string =>
  value === Infinity
    ? "none"
    : Number.isInteger(value) || value >= 100
      ? value.toFixed(0)
      : value.toFixed(value < 10 ? 2 : 1)

/** One figure with its limits; `beside` is another cell. */
export interface Row {
  readonly name: string
  readonly measured: number
  readonly limit: Limit
  readonly beside?: string
}

const line = (name: string, ...cells: ReadonlyArray<string>): string =>
  name.padEnd(96) + cells.map((cell) => cell.padStart(12)).join("")

/** The lines of the table; the title is that of the cells beside. */
export const tableOf = (rows: ReadonlyArray<Row>, title = ""): ReadonlyArray<string> => [
  line("", "measured", "bound", "aim", "", title),
  ...rows.map(({ name, measured, limit, beside = "" }) => {
    const [bound, aim] = [limit.bound, limit.aim].map((value) => (limit.isLeast === true ? "≥ " : "") + show(value))
    return line(name, show(measured), `${bound}`, `${aim}`, verdictOf(measured, limit), beside)
  })
]

/** Whether no figure fails. */
export const isGood = (rows: ReadonlyArray<Row>): boolean =>
  rows.every(({ measured, limit }) => verdictOf(measured, limit) !== "FAILS")

/** The costs of the contenders: medians, and the least and the most of the processor time of all threads. */
export const costsOf = (names: ReadonlyArray<ContenderName>, results: Samples): ReadonlyArray<string> => {
  const row = (name: string, ...cells: ReadonlyArray<string>): string =>
    name.padEnd(24) + cells.map((cell) => cell.padStart(18)).join("")
  return [
    row("processor time, ms", "all threads", "", "main thread", "other threads", "after a rest", "peak heap, MB"),
    ...names.flatMap((name) => {
      const all = results.values(keyOf(name, "cpuMs"))
      const median = (quantity: Quantity): number => results.median(keyOf(name, quantity))
      const [cpuMs, mainMs] = [median("cpuMs"), median("mainMs")]
      const shown = [mainMs, cpuMs - mainMs, median("restedMs"), median("peakMb")]
      if (all.length === 0) return []
      return [
        row(
          name,
          show(cpuMs),
          `${show(Math.min(...all))}–${show(Math.max(...all))}`,
          ...shown.map((value) => (Number.isNaN(value) ? "" : show(value)))
        )
      ]
    })
  ]
}
