/**
 * Writes any value as JSON, and reads it back.
 *
 * A value with a JSON form is written unchanged. Any other value becomes an object of one key that begins with `$`:
 * `$undefined`, `$number` (`NaN`, the infinities, `-0`), `$bigint`, `$date`, `$bytes`, `$error`, `$result` (an outcome made
 * by `ok`, `error`, `askUser` or `halt`). A value's own object that looks like one of these is quoted: `$object`.
 *
 * FORM1. A value written without a finding reads back equal, except that a field that is `undefined` may be missing.
 * FORM2. A part that cannot be written is a finding with its path. Below an error, or on request, a word in brackets
 *        replaces it: an error can always be written.
 * FORM3. Cycles, deep nesting and accessors that throw always become findings.
 */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import type * as z from "zod"
import { type Finding, findingsOf } from "../errors/index.ts"
import { ErrorData } from "./ErrorData.ts"
import * as HandlerResult from "./HandlerResult.ts"
import { base64OfBytes, bytesOfBase64, isBase64 } from "../json/index.ts"
import { dataOf, errorOf } from "./errorJson.ts"

/** A JSON value. */
export type Json = string | number | boolean | null | ReadonlyArray<Json> | { readonly [key: string]: Json }

/** In levels of nesting. */
const deepestRead = 500

interface Writing {
  readonly path: Array<string | number>
  readonly above: Set<object>
  readonly found: Array<Finding>
  readonly describing: boolean
  readonly deepest: number
}

/** Writes a value of at most `deepest` levels. */
export const write = (
  value: unknown,
  describing: boolean,
  deepest = deepestRead
): { readonly json: Json; readonly found: ReadonlyArray<Finding> } => {
  const found: Array<Finding> = []
  return { json: written(value, { path: [], above: new Set(), found, describing, deepest }), found }
}

const unwritable = ({ describing, found, path }: Writing, reason: string): Json => {
  if (describing) return `[${reason.replaceAll("_", " ")}]`
  found.push({ field: [...path], reason })
  return null
}

const written = (value: unknown, writing: Writing): Json => {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value
    case "number":
      if (Number.isFinite(value) && !Object.is(value, -0)) return value
      return { $number: Object.is(value, -0) ? "-0" : String(value) }
    case "bigint":
      return { $bigint: String(value) }
    case "undefined":
      return { $undefined: true }
    case "object":
      return value === null ? null : guarded(value, writing)
    default:
      return unwritable(writing, typeof value)
  }
}

const guarded = (value: object, around: Writing): Json => {
  const writing = value instanceof Error ? { ...around, describing: true } : around
  const { above, path } = writing
  if (above.has(value)) return unwritable(writing, "circular")
  if (above.size >= writing.deepest) return unwritable(writing, "too_deep")
  above.add(value)
  const depth = path.length
  try {
    return writtenObject(value, writing)
  } catch {
    path.length = depth
    return unwritable(writing, "unreadable")
  } finally {
    above.delete(value)
  }
}

const writtenObject = (value: object, writing: Writing): Json => {
  if (Array.isArray(value)) {
    if (!writing.describing && hasNames(value)) return unwritable(writing, "named_elements")
    return Array.from(value, (element: unknown, index) => below(index, element, writing))
  }
  if (value instanceof Error) return { $error: writtenFields(dataOf(value), writing) }
  if (HandlerResult.isBranded(value)) {
    return HandlerResult.isHandlerResult(value)
      ? { $result: writtenFields(value, writing) }
      : unwritable(writing, "malformed")
  }
  if (value instanceof Date) {
    return Number.isNaN(value.getTime()) ? unwritable(writing, "invalid_date") : { $date: value.toISOString() }
  }
  if (value instanceof Uint8Array) return { $bytes: base64OfBytes(value) }
  if (!isPlain(value)) return unwritable(writing, "not_plain")
  if (Object.getOwnPropertySymbols(value).length > 0) return unwritable(writing, "symbol_key")
  const fields = writtenFields(value, writing)
  return soleTag(fields) === undefined ? fields : { $object: fields }
}

const writtenFields = (value: object, writing: Writing): { readonly [key: string]: Json } => {
  const fields: Array<[string, Json]> = []
  for (const [key, field] of Object.entries(value)) {
    if (field !== undefined) fields.push([key, below(key, field, writing)])
  }
  return Object.fromEntries(fields)
}

const below = (step: string | number, value: unknown, writing: Writing): Json => {
  writing.path.push(step)
  const json = written(value, writing)
  writing.path.pop()
  return json
}

/** Whether an array has fields beside its elements, which JSON would leave out. Element keys come first. */
const hasNames = (list: ReadonlyArray<unknown>): boolean => {
  const last = Object.keys(list).at(-1)
  if (last !== undefined && !(/^\d+$/.test(last) && Number(last) < list.length)) return true
  return Object.getOwnPropertySymbols(list).length > 0
}

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

interface Reading {
  readonly path: Array<string | number>
  readonly found: Array<Finding>
}

/**
 * Reads the output of {@link write}; `path` is the place of `json`, `tag` its tag if `json` is only the value inside the
 * tag.
 */
export const read = (
  json: unknown,
  path: ReadonlyArray<string | number>,
  tag?: Tag
): { readonly value: unknown; readonly found: ReadonlyArray<Finding> } => {
  const found: Array<Finding> = []
  const reading: Reading = { path: [...path], found }
  return { value: tag === undefined ? readValue(json, reading) : tagged[tag](json, reading), found }
}

const unreadable = ({ found, path }: Reading, reason: string): undefined => {
  found.push({ field: [...path], reason })
}

const readValue = (json: unknown, reading: Reading): unknown => {
  if (typeof json !== "object" || json === null) return json
  if (reading.path.length > 2 * deepestRead) return unreadable(reading, "too_deep")
  if (Array.isArray(json)) return json.map((element: unknown, index) => readBelow(index, element, reading))
  const tag = soleTag(json)
  if (tag === undefined) return readFields(json, reading)
  reading.path.push(tag)
  const value = tagged[tag](Reflect.get(json, tag), reading)
  reading.path.pop()
  return value
}

const readFields = (json: object, reading: Reading): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(json).map(([key, field]) => [key, readBelow(key, field, reading)]))

const readBelow = (step: string | number, json: unknown, reading: Reading): unknown => {
  reading.path.push(step)
  const value = readValue(json, reading)
  reading.path.pop()
  return value
}

/** The key of a tagged value. */
export type Tag = "$undefined" | "$number" | "$bigint" | "$date" | "$bytes" | "$error" | "$result" | "$object"

const numbers: ReadonlyMap<unknown, number> = new Map([
  ["NaN", Number.NaN],
  ["Infinity", Number.POSITIVE_INFINITY],
  ["-Infinity", Number.NEGATIVE_INFINITY],
  ["-0", -0]
])

const malformed = (reading: Reading): undefined => unreadable(reading, "malformed")

/** The reader of each tag. */
const tagged: Readonly<Record<Tag, (json: unknown, reading: Reading) => unknown>> = {
  $undefined: (json, reading) => (json === true ? undefined : malformed(reading)),
  $number: (json, reading) => numbers.get(json) ?? malformed(reading),
  $bigint: (json, reading) => (typeof json === "string" && /^-?\d+$/.test(json) ? BigInt(json) : malformed(reading)),
  $date: (json, reading) => {
    const date = typeof json === "string" ? DateTime.make(json) : Option.none()
    const meant = Option.isSome(date) ? DateTime.toDateUtc(date.value) : undefined
    return meant?.toISOString() === json ? meant : malformed(reading)
  },
  $bytes: (json, reading) => (typeof json === "string" && isBase64(json) ? bytesOfBase64(json) : malformed(reading)),
  $object: (json, reading) => (isObject(json) ? readFields(json, reading) : malformed(reading)),
  $result: (json, reading) => {
    if (!isObject(json)) return malformed(reading)
    const fields = readFields(json, reading)
    return fits(HandlerResult.HandlerResult, fields, reading) ? branded(fields) : undefined
  },
  $error: (json, reading) => {
    if (!isObject(json)) return malformed(reading)
    const fields = readFields(json, reading)
    return fits(ErrorData, fields, reading) ? errorOf(fields) : undefined
  }
}

/** Whether the fields fit the schema. The parsed copy is not used, because the schema removes unknown fields. */
const fits = <A>(schema: z.ZodType<A>, fields: unknown, { found, path }: Reading): fields is A => {
  const { error } = schema.safeParse(fields)
  if (error !== undefined) found.push(...findingsOf(error, path))
  return error === undefined
}

const branded = (result: HandlerResult.HandlerResult): HandlerResult.HandlerResult => {
  switch (result.type) {
    case "ok":
      return HandlerResult.ok(result.value)
    case "error":
      return HandlerResult.error(result.reason)
    case "ask_user":
      return HandlerResult.askUser(result.question, result.options)
    case "halt":
      return HandlerResult.halt(result.reason, result.result)
  }
}

const isObject = (json: unknown): json is object => typeof json === "object" && json !== null && !Array.isArray(json)

const isTag = (key: string): key is Tag => Object.hasOwn(tagged, key)

/** The tag of an object whose only key is a tag. */
const soleTag = (value: object): Tag | undefined => {
  const [key, more] = Object.keys(value)
  return key !== undefined && more === undefined && isTag(key) ? key : undefined
}
