/** One line for each probe. */
import type { Observation } from "./observe.ts"

const wide = 52

const outcomesIn = ({ outcomes }: Observation): string =>
  Object.entries(outcomes)
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([id, all]) => `${id} ${all.join("+")}`)
    .join(", ")

/** The head of the table. */
export const head = (framework: string): ReadonlyArray<string> => [
  "",
  framework,
  "",
  `${"probe".padEnd(wide)}${"wall".padStart(9)}${"late".padStart(7)}${"reports".padStart(9)}${"released".padStart(10)}${"ahead".padStart(8)}  outcome of each call, and the end`
]

/** The line of one probe, and its events and faults below it. */
export const lines = (title: string, seen: Observation, faults: ReadonlyArray<string>): ReadonlyArray<string> => {
  const { wallMs, lateEffects, lateReports, opened, released, pulledAhead, end, note, events } = seen
  const outcomes = outcomesIn(seen)
  const figures = [
    `${wallMs.toFixed(0)} ms`.padStart(9),
    `${lateEffects}`.padStart(7),
    `${lateReports}`.padStart(9),
    `${released}/${opened}`.padStart(10),
    `${pulledAhead ?? "-"}`.padStart(8)
  ].join("")
  const said = [outcomes, end, note].filter((part) => part !== undefined && part !== "").join("; ")
  return [
    `${faults.length === 0 ? "✓" : "✗"} ${title}`.padEnd(wide) + figures + `  ${said}`,
    `    ${shortened(events)}`,
    ...faults.map((fault) => `    ✗ ${fault}`)
  ]
}

const shortened = (events: ReadonlyArray<string>): string =>
  events.length <= 12 ? events.join(" ") : `${events.slice(0, 12).join(" ")} … (${events.length})`
