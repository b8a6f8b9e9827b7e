/**
 * Reads the values of case files. `text`, `number`, `list` and `object` refuse a missing value, or one of another type, as a
 * mistake of the file; `textOf`, `listOf` and `fieldsOf` read it as an empty one.
 *
 * @module
 */
import { readFileSync } from "node:fs"

/** A JSON object. */
export type Fields = Readonly<Record<string, unknown>>

/** The tables of a JSON file beside a module. */
export const tablesIn = (file: string, module: string): unknown =>
  JSON.parse(readFileSync(new URL(file, module), "utf8"))

/** Whether a value is an object with keys. */
export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The object, or one without keys. */
export const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {})

/** The list, or an empty one. */
export const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

/** A value as text: a string as it is, anything else as JSON. */
export const textOf = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""))

/** The fields that are neither `undefined` nor `null`. */
export const present = <A extends object>(fields: A): { -readonly [K in keyof A]?: Exclude<A[K], undefined | null> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null)) as never

/** A text as a part of a pattern that matches only this text. */
export const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)

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

export const isList = (value: unknown): value is ReadonlyArray<Json> => Array.isArray(value)

export const isObject = (value: unknown): value is JsonObject => isFields(value)

const reader =
  <A extends Json>(required: string, is: (value: unknown) => value is A) =>
  (value: unknown): A => {
    if (is(value)) return value
    throw new BadCase(`${JSON.stringify(value) ?? "nothing"} should be ${required}`)
  }

export const text = reader("a string", (value) => typeof value === "string")
export const number = reader("a number", (value) => typeof value === "number")
export const list = reader("an array", isList)
export const object = reader("an object", isObject)

/** A value, or `undefined` when the key or the argument is missing. */
export const optional = <A>(read: (value: unknown) => A, value: unknown): A | undefined =>
  value === undefined || value === null ? undefined : read(value)

/** Values in the order of their texts. */
export const sorted = (values: ReadonlyArray<Json>): ReadonlyArray<Json> =>
  values.toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1))
