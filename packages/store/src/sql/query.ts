/**
 * Database queries, independent of the driver: a generator yields queries and gets their rows.
 *
 * So the log is written once: SQLite answers synchronously, PostgreSQL asynchronously.
 */

/** A parameter of a query, `?` in its text. */
export type Value = string | number | null | ReadonlyArray<string | null>

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
