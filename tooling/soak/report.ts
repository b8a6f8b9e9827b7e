/** The output of a soak. */
import { type Equation, holds } from "./ledger.ts"

/** The equations as a table. */
export const tableOf = (equations: ReadonlyArray<Equation>): ReadonlyArray<string> => {
  const width = Math.max(...equations.map(({ title }) => title.length))
  return equations.map((equation) => {
    const { title, left, shown } = equation
    return `${holds(equation) ? "✓" : "✗"} ${title.padEnd(width)}  ${String(left).padStart(8)} = ${shown}`
  })
}
