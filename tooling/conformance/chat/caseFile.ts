/**
 * Reads conformance cases: JSON files of `{ area, cases }`.
 *
 * @module
 */
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"

/** A JSON object. */
export type Fields = Readonly<Record<string, unknown>>

/** One case: what is given, what is called, what must hold. */
export interface Case {
  readonly id: string
  readonly given: Fields
  readonly when: string
  readonly then: Fields
  readonly elixir_only?: boolean
  readonly optional?: boolean
}

/** A case as it was read, or the id of one that is ill-formed. */
export type ReadCase = Case | { readonly id: string; readonly illFormed: true }

/** The cases of a file, or of every JSON file of a folder, in the order of the files' names. */
export const readCases = (path: string): ReadonlyArray<ReadCase> => {
  const files = statSync(path).isDirectory()
    ? readdirSync(path, { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(".json"))
        .toSorted()
        .map((name) => join(path, name))
    : [path]
  return files.flatMap((file) => listOf(fieldsOf(JSON.parse(readFileSync(file, "utf8")))["cases"]).map(caseOf))
}

const caseOf = (value: unknown): ReadCase =>
  isCase(value) ? value : { id: textOf(fieldsOf(value)["id"]), illFormed: true }

const isCase = (value: unknown): value is Case => {
  const { id, given, when, then } = fieldsOf(value)
  return typeof id === "string" && typeof when === "string" && isFields(given) && isFields(then)
}

/** Whether a value is an object with keys. */
export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The object, or one without keys. */
export const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {})

/** The list, or an empty one. */
export const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

/** A value as text: a string as it is, anything else as JSON. */
export const textOf = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""))
