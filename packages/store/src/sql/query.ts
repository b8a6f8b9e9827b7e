/**
 * Database queries, independent of the driver: a generator yields queries and gets their rows. And the texts that both databases
 * can store in a column; text stored as JSON needs no check.
 *
 * So the log is written once: SQLite answers synchronously, PostgreSQL asynchronously.
 */
import { createHash } from "node:crypto"
import { ValidationError } from "@troupe/chat/errors"

/** A parameter of a query, `?` in its text. */
export type Value = string | number | null | Uint8Array | ReadonlyArray<string | null>

/** A query in SQL that both databases understand. */
export interface Query {
  readonly sql: string
  readonly params: ReadonlyArray<Value>
}

/** A row of a result. */
export type Row = Readonly<Record<string, unknown>>

/** A sequence of queries, and its result. */
export type Asking<A> = Generator<Query, A, ReadonlyArray<Row>>

/** Runs a query and returns its rows. */
export function* rowsOf(sql: string, ...params: ReadonlyArray<Value>): Asking<ReadonlyArray<Row>> {
  return yield { sql, params }
}

/** A number of a row, however the database returns numbers. */
export const numberIn = (row: Row | undefined, column: string): number => Number(row?.[column])

/** A text of a row. */
export const textIn = (row: Row | undefined, column: string): string => String(row?.[column])

/** A text of a row, or `undefined`. */
export const maybeTextIn = (row: Row | undefined, column: string): string | undefined => {
  const value = row?.[column]
  return typeof value === "string" ? value : undefined
}

/** Whether both databases store this text distinctly: it has no lone surrogate, and no character 0. */
export const isDistinct = (text: string): boolean => text.isWellFormed() && !text.includes("\0")

/** The maximum UTF-8 bytes of an id: PostgreSQL's index entries are limited to slightly more. */
const longestId = 2_048

/**
 * Returns the id, if both databases store it distinctly.
 *
 * **Errors**: throws a `ValidationError` (`invalid_options`) for an id with a lone surrogate or the character 0, or with
 * more than 2,048 bytes.
 */
export const checkedId = (id: string): string => {
  if (typeof id !== "string" || !isDistinct(id)) throw refusedId("must_be_well_formed_text without NUL")
  if (Buffer.byteLength(id) > longestId) throw refusedId(`must_be_at_most ${longestId} bytes of UTF-8`)
  return id
}

const refusedId = (reason: string): ValidationError =>
  new ValidationError("invalid_options", [{ field: ["id"], reason }])

/** The longest text that is stored as its JSON; PostgreSQL limits the bytes of an index entry. */
const longestKey = 500

/** A key for any text that both databases store distinctly. The JSON of a text begins with a quotation mark. */
export const storedKey = (text: string): string => {
  const json = JSON.stringify(text)
  return json.length <= longestKey ? json : `sha256 ${createHash("sha256").update(json).digest("hex")}`
}

/** The text without the characters that a database cannot store. */
export const readable = (text: string): string => text.toWellFormed().replaceAll("\0", "")
