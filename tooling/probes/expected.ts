/** Expectations on an observation; each returns its faults. */
import type { Framework } from "./framework.ts"
import type { Observation } from "./observe.ts"

/** The fault, unless the condition holds. */
export const is = (holds: boolean, fault: string): ReadonlyArray<string> => (holds ? [] : [fault])

/** Each call has this outcome exactly once, and no other call has any. */
export const outcomes = (
  { outcomes: seen }: Observation,
  expected: Readonly<Record<string, string>>
): ReadonlyArray<string> => [
  ...Object.entries(expected).flatMap(([id, outcome]) =>
    is(
      seen[id]?.length === 1 && seen[id][0] === outcome,
      `${id} is ${seen[id]?.join("+") ?? "nothing"}, not ${outcome}`
    )
  ),
  ...Object.keys(seen).flatMap((id) => is(id in expected, `${id} was never called`))
]

/** At most so many milliseconds. */
export const within = ({ wallMs }: Observation, ms: number): ReadonlyArray<string> =>
  is(wallMs <= ms, `took ${wallMs.toFixed(0)} ms, more than ${ms}`)

/** Ended for one of these reasons. */
export const ended = ({ end }: Observation, ...expected: ReadonlyArray<string>): ReadonlyArray<string> =>
  is(expected.includes(end), `ended ${end}, not ${expected.join(" or ")}`)

/** Each stream of the model was released. */
export const allReleased = ({ opened, released }: Observation): ReadonlyArray<string> =>
  is(opened === released, `${opened} streams opened, ${released} released`)

/** So many effects after the end, each reported. */
export const lateReported = ({ lateEffects, lateReports }: Observation, count: number): ReadonlyArray<string> => [
  ...is(lateEffects === count, `${lateEffects} late effects, not ${count}`),
  ...is(lateReports >= count, `${lateReports} late results reported, of ${count}`)
]

/** When leaving releases everything, the framework reads at most one word ahead of the reader. */
export const ahead = ({ pulledAhead = 0 }: Observation, leaving: Framework["leaving"]): ReadonlyArray<string> =>
  is(leaving === "detaches" || pulledAhead <= 1, `${pulledAhead} words taken ahead`)

export const nothingLate = (seen: Observation): ReadonlyArray<string> => lateReported(seen, 0)
