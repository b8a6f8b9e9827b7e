/**
 * The one text of a value: in its JSON form, the keys of every object in order. Equal values have equal texts.
 */
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

/** What has no JSON form is described by a word in brackets. */
export const canonicalJson = (value: unknown): string => JSON.stringify(sorted(write(value, true).json))
