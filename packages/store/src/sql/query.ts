/**
 * What is asked of a database, apart from how it is reached: a generator yields questions and is given their rows.
 *
 * So the log is written once: SQLite answers at once, PostgreSQL later.
 */

/** What a question is asked with. Its places are `?` in the text. */
export type Value = string | number | null | ReadonlyArray<string | null>

/** A question, in words of SQL that both databases know. */
export interface Query {
  readonly sql: string
  readonly params: ReadonlyArray<Value>
}

/** A row of an answer. */
export type Row = Readonly<Record<string, unknown>>

/** Some questions, and what comes of the answers. */
export type Asking<A> = Generator<Query, A, ReadonlyArray<Row>>

/** Asks, and has the rows. */
export function* rowsOf(sql: string, ...params: ReadonlyArray<Value>): Asking<ReadonlyArray<Row>> {
  return yield { sql, params }
}

/** A number of a row, however the database gives numbers. */
export const numberIn = (row: Row | undefined, column: string): number => Number(row?.[column])

/** A text of a row. */
export const textIn = (row: Row | undefined, column: string): string => String(row?.[column])

/** A text of a row that may have none. */
export const maybeTextIn = (row: Row | undefined, column: string): string | undefined => {
  const value = row?.[column]
  return typeof value === "string" ? value : undefined
}
