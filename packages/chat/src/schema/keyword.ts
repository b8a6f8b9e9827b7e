/** What a keyword of JSON Schema is made of. */
import { isRecord } from "../errors/index.ts"
import type { At, Check, Run } from "./check.ts"
import type { Draft, Keywords, Place, Resource, SchemaDocument } from "./document.ts"

/** The schemas of a document, as a keyword sees them. */
export interface Compiler {
  readonly draft: Draft
  readonly resource: Resource
  readonly hasFormats: boolean
  readonly document: SchemaDocument
  /** The check of a schema beside or below. */
  readonly checkOf: (schema: unknown) => Check
  readonly checkAt: (place: Place) => Check
}

/** A keyword: the draft that introduced it, and its check; no check for a value that the keyword cannot have. */
export interface Keyword {
  readonly since?: Draft
  readonly make: (value: unknown, schema: Keywords, compiler: Compiler) => Check | undefined
}

export type Value<A> = (value: unknown) => value is A

export const isNumber: Value<number | bigint> = (value) => typeof value === "number" || typeof value === "bigint"
export const isCount: Value<number> = (value) => typeof value === "number"
export const isText: Value<string> = (value) => typeof value === "string"
export const isList: Value<ReadonlyArray<unknown>> = (value) => Array.isArray(value)
export const isFields: Value<Keywords> = (value) => isRecord(value)
export const isNames: Value<ReadonlyArray<string>> = (value) => isList(value) && value.every(isText)

/** Checks a part of a value. */
export const part = (check: Check, value: unknown, key: string | number, at: At | undefined, run: Run): boolean =>
  check(value, { above: at, key }, run, undefined)

/** Whether all of a list hold; after a failure it goes on until the issues are complete. */
export const every = <A>(all: Iterable<A>, run: Run, holds: (one: A) => boolean): boolean => {
  let fits = true
  for (const one of all) {
    if (holds(one)) continue
    fits = false
    if (run.isFull) break
  }
  return fits
}
