/**
 * What the scripted model does as the coordinator of the team, and as a researcher of it.
 *
 * @module
 */

/** A call that the model makes. */
export interface Planned {
  readonly name: string
  readonly arguments: Record<string, unknown>
}

const task = /^Research (?<what>the weather|the visit) in (?<place>.+)\.$/u

/** The calls of the coordinator: one for each researcher. `undefined` for a request that is not for the team. */
export const coordinated = (text: string): ReadonlyArray<Planned> | undefined => {
  const place = /\bresearch\s+(?<place>.+?)\s+with\s+the\s+team\b/iu.exec(text)?.groups?.["place"]
  if (place === undefined) return undefined
  return ["the weather", "the visit"].map((what) => ({
    name: "research",
    arguments: { input: `Research ${what} in ${place}.` }
  }))
}

/** What a researcher says and calls for its task; `undefined` for another text. */
export const researched = (
  said: string,
  results: ReadonlyArray<string>
): { readonly text: string; readonly calls: ReadonlyArray<Planned> } | undefined => {
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
    return { text, calls: [{ name: "ask_person", arguments: { question: `Who visits ${place}, and for how long?` } }] }
  }
  return { text: `My notes on the visit: the answer was “${notes}”. I would begin at the harbour.`, calls: [] }
}
