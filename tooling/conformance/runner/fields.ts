/** Reads untyped values of case files. */

/** A JSON object. */
export type Fields = Readonly<Record<string, unknown>>

/** Whether a value is an object with keys. */
export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The object, or one without keys. */
export const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {})

/** The list, or an empty one. */
export const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

/** A value as text: a string as it is, anything else as JSON. */
export const textOf = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""))
