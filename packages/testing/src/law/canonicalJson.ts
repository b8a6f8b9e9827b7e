/** The canonical text of a value: its JSON form with sorted object keys. Equal values have equal texts. */
import { Codec } from "@troupe/chat/store"

/** A type of the codec that holds any value. An undefined element of an array has a JSON form, an undefined field has none. */
const around = (value: readonly [unknown]) => ["HandlerResult", { type: "ok", value }] as const

/** The canonical text; a part without a JSON form is replaced by a word in brackets. */
export const canonicalJson = (value: unknown): string => {
  const { data } = Codec.toJson(...around([value]), { unencodable: "describe" })
  return JSON.stringify(sorted((data as { readonly value: readonly [unknown] }).value[0]))
}

/** The value in a text of {@link canonicalJson}. */
export const valueIn = (text: string): unknown => {
  const result = Codec.fromJson(...around([JSON.parse(text)]))
  return (result as { readonly value: readonly [unknown] }).value[0]
}

const sorted = (json: unknown): unknown => {
  if (typeof json !== "object" || json === null) return json
  if (Array.isArray(json)) return json.map(sorted)
  return Object.fromEntries(
    Object.entries(json)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, value]) => [key, sorted(value)])
  )
}
