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

export const isList = (value: Json | undefined): value is ReadonlyArray<Json> => Array.isArray(value)

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !isList(value)

const reader =
  <A extends Json>(required: string, is: (value: Json | undefined) => value is A) =>
  (value: Json | undefined): A => {
    if (is(value)) return value
    throw new BadCase(`${JSON.stringify(value) ?? "nothing"} should be ${required}`)
  }

export const text = reader("a string", (value) => typeof value === "string")
export const number = reader("a number", (value) => typeof value === "number")
export const list = reader("an array", isList)
export const object = reader("an object", isObject)

/** A value, or `undefined` when the key or the argument is missing. */
export const optional = <A>(read: (value: Json) => A, value: Json | undefined): A | undefined =>
  value === undefined || value === null ? undefined : read(value)

/** Values in the order of their texts. */
export const sorted = (values: ReadonlyArray<Json>): ReadonlyArray<Json> =>
  values.toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1))
