/**
 * The list of conversations: by time of the last write, by prefix of the id, and by text of the messages.
 *
 * Owns: the queries of a list, and the column with the bucket of each conversation. Does not own the database, nor the other
 * columns.
 *
 * LIST1. A list with a prefix reads only the conversations with that prefix, however many others there are; so does a
 *        search with a prefix.
 * LIST2. A list of the running conversations reads only these, however many others there are. With a prefix it reads only
 *        those with that prefix.
 * BUCKET1. Every row that a list of a bucket could have has its bucket before the list is read. An earlier version that uses
 *          the database beside this one adds rows without a bucket. An index has only these rows.
 */
import { Store } from "@troupe/chat/store"
import type { Dialect } from "./dialect.ts"
import { all, type Addition } from "./migrations.ts"
import { type Asking, numberIn, type Query, type Row, rowsOf, textIn, isDistinct } from "./query.ts"

/** The options of a list. */
export type Asked = ReturnType<typeof Store.Lists.listOptions<number>>

export class Listing {
  readonly #dialect: Dialect
  readonly #chats: string

  constructor(dialect: Dialect) {
    this.#dialect = dialect
    this.#chats = `${dialect.prefix}chats`
  }

  /** The rows of a page, and one more if there is another page. */
  *all({ prefix, search, running, buckets, children, limit, after }: Asked): Asking<ReadonlyArray<Row>> {
    if (prefix !== "") return yield* this.#withPrefix({ prefix, running, buckets, children, after, limit: limit + 1 })
    // A text that a database cannot store matches no conversation.
    if (!isDistinct(search)) return []
    const having = search === "" ? { sql: "1 = 1", params: [] } : this.#dialect.having(search)
    const among = this.#among(buckets)
    const list = `SELECT ${columns} FROM ${this.#chats} WHERE written < ?${running ? isRunning : isConversation}
      AND ${having.sql}${among.sql}${children ? "" : isNoChild} ORDER BY written DESC LIMIT ?`
    return yield* rowsOf(list, after ?? Number.MAX_SAFE_INTEGER, ...having.params, ...among.params, limit + 1)
  }

  /** The rows of all conversations with a prefix, for a search in them. */
  *candidates({ prefix, search, running, buckets, children, after }: Asked): Asking<ReadonlyArray<Row>> {
    if (!isDistinct(search)) return []
    return yield* this.#withPrefix({ prefix, running, buckets, children, after, limit: Number.MAX_SAFE_INTEGER })
  }

  /** The rows whose conversations have a message with the text. */
  *having(rows: ReadonlyArray<Row>, search: string): Asking<ReadonlyArray<Row>> {
    const keys = rows.map((row) => numberIn(row, "key"))
    const found = yield* this.#dialect.havingOf(keys, search)
    return rows.filter((row) => found.has(numberIn(row, "key")))
  }

  /** `+written` disables the index: the ids with the prefix are found by their index, and then sorted (LIST1). */
  *#withPrefix(filter: Omit<Asked, "search">): Asking<ReadonlyArray<Row>> {
    const { prefix, running, buckets, children, after, limit } = filter
    // No stored id has this prefix.
    if (!isDistinct(prefix)) return []
    const among = this.#among(buckets)
    const list = `SELECT ${columns} FROM ${this.#chats} WHERE id >= ? AND id < ?${running ? isRunning : isConversation}${among.sql}
      ${children ? "" : isNoChild} AND +written < ? ORDER BY +written DESC LIMIT ?`
    const { from, to } = prefixRange(prefix)
    return yield* rowsOf(list, from, to, ...among.params, after ?? Number.MAX_SAFE_INTEGER, limit)
  }

  #among(buckets: Asked["buckets"]): Query {
    if (buckets === undefined) return { sql: "", params: [] }
    const { sql, params } = this.#dialect.among("bucket", buckets)
    return { sql: ` AND ${sql}`, params }
  }
}

const columns = "key, id, title, seq, messages, running, waiting, created_at, updated_at, written"

/** The condition of the indexes `chats_running` and `chats_running_ids`, letter by letter, so that they are used. LIST2 */
const isRunning = " AND (running = 1 OR waiting > 0)"

/** A row of blobs alone is no conversation (BLOB2). */
const isConversation = " AND (seq > 0 OR waiting > 0)"

/** The conversation of a sub-agent has these characters in its id. */
const isNoChild = " AND id NOT LIKE '%/~/%'"

/** The last character of Unicode, repeated more often than an id can contain it. */
const last = "\u{10FFFF}".repeat(600)

/**
 * The range of ids with a prefix, which an index in byte order finds without reading other ids.
 *
 * **Details**: texts with the prefix `prefix` are at or after `from` and before `to`, in the order of their UTF-8 bytes.
 */
export const prefixRange = (prefix: string): { readonly from: string; readonly to: string } => {
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0)
  while (points.at(-1) === 0x10ffff) points.pop()
  const point = points.pop()
  if (point === undefined) return { from: prefix, to: last }
  // Surrogates: no well-formed text has a character between these two.
  const next = point === 0xd7ff ? 0xe000 : point + 1
  return { from: prefix, to: String.fromCodePoint(...points, next) }
}

/** Makes a page of rows, which have one row more than the page if there is another page. */
export const pageOf = (rows: ReadonlyArray<Row>, limit: number): Store.ChatList => {
  const chats = rows.slice(0, limit).map((row) => ({
    id: textIn(row, "id"),
    title: textIn(row, "title"),
    seq: numberIn(row, "seq"),
    messages: numberIn(row, "messages"),
    createdAt: numberIn(row, "created_at"),
    updatedAt: numberIn(row, "updated_at"),
    running: numberIn(row, "running") === 1,
    waiting: numberIn(row, "waiting")
  }))
  return rows.length > limit ? { chats, next: textIn(rows[limit - 1], "written") } : { chats }
}

/** The number of rows that are filled together. */
const filledAtOnce = 500

/** Whether there are rows without a bucket. */
export function* areMissing({ prefix }: Dialect): Asking<boolean> {
  return (yield* rowsOf(missing(prefix, 1))).length > 0
}

/** Fills the bucket of some rows, and returns whether there may be more. */
export function* fillSome({ prefix, pairs }: Dialect): Asking<boolean> {
  const rows = yield* rowsOf(missing(prefix, filledAtOnce))
  if (rows.length === 0) return false
  const { sql, params } = pairs(rows.map((row) => [textIn(row, "key"), Store.bucketOf(textIn(row, "id"))]))
  yield* rowsOf(`UPDATE ${prefix}chats SET bucket = number FROM ${sql} WHERE key = CAST(name AS BIGINT)`, ...params)
  return rows.length === filledAtOnce
}

const missing = (prefix: string, limit: number): string =>
  `SELECT key, id FROM ${prefix}chats WHERE bucket IS NULL LIMIT ${limit}`

/** Adds the column, with the bucket of every conversation, and the index of BUCKET1. */
export const bucketColumn = (dialect: Dialect): Addition => ({
  name: "buckets",
  apply: function* () {
    const chats = `${dialect.prefix}chats`
    yield* all([
      `ALTER TABLE ${chats} ADD COLUMN bucket INTEGER`,
      `CREATE INDEX chats_without_bucket ON ${chats} (key) WHERE bucket IS NULL`
    ])
    while (yield* fillSome(dialect));
  }
})
