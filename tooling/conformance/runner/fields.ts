/** Reads untyped values of case files. */
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
