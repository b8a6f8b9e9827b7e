/**
 * The list of conversations: by time of the last write, by prefix of the id, and by text of the messages.
 *
 * Owns: the queries of a list. Does not own the database, nor the rows.
 *
 * LIST1. A list with a prefix reads only the conversations with that prefix, however many others there are; so does a
 *        search with a prefix.
 * LIST2. A list of the running conversations reads only these, however many others there are. With a prefix it reads only
 *        those with that prefix.
 */
import type { Store } from "@troupe/chat/store"
import type { Dialect } from "./dialect.ts"
import { type Asking, numberIn, type Row, rowsOf, textIn } from "./query.ts"
import { isDistinct } from "./storedText.ts"

/** The options of a list. */
export type Asked = ReturnType<typeof Store.listOptions<number>>

/** A list. */
export class Listing {
  readonly #dialect: Dialect
  readonly #chats: string

  constructor(dialect: Dialect) {
    this.#dialect = dialect
    this.#chats = `${dialect.prefix}chats`
  }

  /** The rows of a page, and one more if there is another page. */
  *all({ prefix, search, running, limit, after }: Asked): Asking<ReadonlyArray<Row>> {
    if (prefix !== "") return yield* this.#withPrefix({ prefix, running, after, limit: limit + 1 })
    // A text that a database cannot store matches no conversation.
    if (!isDistinct(search)) return []
    const having = search === "" ? { sql: "1 = 1", params: [] } : this.#dialect.having(search)
    const list = `SELECT ${columns} FROM ${this.#chats} WHERE written < ?${running ? isRunning : ""}
      AND ${having.sql} ORDER BY written DESC LIMIT ?`
    return yield* rowsOf(list, after ?? Number.MAX_SAFE_INTEGER, ...having.params, limit + 1)
  }

  /** The rows of all conversations with a prefix, for a search in them. */
  *candidates({ prefix, search, running, after }: Asked): Asking<ReadonlyArray<Row>> {
    if (!isDistinct(search)) return []
    return yield* this.#withPrefix({ prefix, running, after, limit: Number.MAX_SAFE_INTEGER })
  }

  /** The rows whose conversations have a message with the text. */
  *having(rows: ReadonlyArray<Row>, search: string): Asking<ReadonlyArray<Row>> {
    const keys = rows.map((row) => numberIn(row, "key"))
    const found = yield* this.#dialect.havingOf(keys, search)
    return rows.filter((row) => found.has(numberIn(row, "key")))
  }

  /** `+written` disables the index: the ids with the prefix are found by their index, and then sorted (LIST1). */
  *#withPrefix({ prefix, running, after, limit }: Omit<Asked, "search">): Asking<ReadonlyArray<Row>> {
    // No stored id has this prefix.
    if (!isDistinct(prefix)) return []
    const list = `SELECT ${columns} FROM ${this.#chats} WHERE id >= ? AND id < ?${running ? isRunning : ""} AND +written < ?
      ORDER BY +written DESC LIMIT ?`
    const { from, to } = prefixRange(prefix)
    return yield* rowsOf(list, from, to, after ?? Number.MAX_SAFE_INTEGER, limit)
  }
}

const columns = "key, id, title, seq, messages, running, waiting, created_at, updated_at, written"

/** The condition of the indexes `chats_running` and `chats_running_ids`, letter by letter, so that they are used. LIST2 */
const isRunning = " AND (running = 1 OR waiting > 0)"

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
