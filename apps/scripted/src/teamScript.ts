/**
 * What the scripted model does as a researcher of the team.
 *
 * @module
 */
import type { PlannedCall } from "./planner.ts"

const task = /^Research (?<what>the weather|the visit) in (?<place>.+)\.$/u

/** What a researcher says and calls for its task; `undefined` for another text. */
export const researched = (
  said: string,
  results: ReadonlyArray<string>
): { readonly text: string; readonly calls: ReadonlyArray<PlannedCall> } | undefined => {
  const { what, place = "" } = task.exec(said)?.groups ?? {}
  if (what === undefined) return undefined
  const notes = results.join(" ")
  if (what === "the weather") {
    if (notes === "") {
      const text = `I look at the weather in ${place} first, and then I compare it with what I know of the season.`
      return { text, calls: [{ name: "weather", arguments: { city: place } }] }
    }
    return { text: `My notes on the weather: ${notes}. That is usual there, so one coat is enough.`, calls: [] }
  }
  if (notes === "") {
    const text = `A visit to ${place} depends on who comes, so I ask before I plan anything.`
    return { text, calls: [{ name: "ask", arguments: { question: `Who visits ${place}, and for how long?` } }] }
  }
  return { text: `My notes on the visit: the answer was “${notes}”. I would begin at the harbour.`, calls: [] }
}
