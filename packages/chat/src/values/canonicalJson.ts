/** The canonical text of a value: its JSON form with sorted object keys. Equal values have equal texts. */
import { type Json, write } from "./taggedJson.ts"

const sorted = (json: Json): Json => {
  if (typeof json !== "object" || json === null) return json
  if (isList(json)) return json.map(sorted)
  return Object.fromEntries(
    Object.entries(json)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, value]) => [key, sorted(value)])
  )
}

const isList = (json: Json): json is ReadonlyArray<Json> => Array.isArray(json)

/** The canonical text; a part without a JSON form is replaced by a word in brackets. */
export const canonicalJson = (value: unknown): string => JSON.stringify(sorted(write(value, true).json))
