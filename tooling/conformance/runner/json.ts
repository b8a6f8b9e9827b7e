/**
 * Reads the values of case files: a missing value, or one of another type, is a mistake of the file.
 *
 * @module
 */

/** A value of a case file. */
export type Json = null | boolean | number | string | ReadonlyArray<Json> | JsonObject

/** An object of a case file. */
export interface JsonObject {
  readonly [key: string]: Json
}

/** A case file that violates its format. */
class BadCase extends Error {
  override readonly name = "BadCase"
}

const mistake = (value: Json | undefined, required: string): BadCase =>
  new BadCase(`${JSON.stringify(value) ?? "nothing"} should be ${required}`)

export const isList = (value: Json | undefined): value is ReadonlyArray<Json> => Array.isArray(value)

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !isList(value)

export const text = (value: Json | undefined): string => {
  if (typeof value === "string") return value
  throw mistake(value, "a string")
}

export const number = (value: Json | undefined): number => {
  if (typeof value === "number") return value
  throw mistake(value, "a number")
}

export const list = (value: Json | undefined): ReadonlyArray<Json> => {
  if (isList(value)) return value
  throw mistake(value, "an array")
}

export const object = (value: Json | undefined): JsonObject => {
  if (isObject(value)) return value
  throw mistake(value, "an object")
}

/** A value, or `undefined` when the key or the argument is missing. */
export const optional = <A>(read: (value: Json) => A, value: Json | undefined): A | undefined =>
  value === undefined || value === null ? undefined : read(value)

/** Values in the order of their texts. */
export const sorted = (values: ReadonlyArray<Json>): ReadonlyArray<Json> =>
  values.toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1))

/** Whether two values are the same, whatever the order of their keys. */
export const same = (one: Json | undefined, other: Json | undefined): boolean => {
  if (isList(one) && isList(other)) {
    return one.length === other.length && one.every((value, index) => same(value, other[index]))
  }
  if (!isObject(one) || !isObject(other)) return one === other
  const keys = Object.keys(one)
  return keys.length === Object.keys(other).length && keys.every((key) => key in other && same(one[key], other[key]))
}
