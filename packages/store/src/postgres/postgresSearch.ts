/**
 * The index of the search in PostgreSQL: the words of each message as a text search vector.
 *
 * Owns: the table `sought`, and of each conversation the entry up to which its messages are in it (`sought`).
 *
 * SOUGHT1. A search first adds the messages of entries since the last search, in portions of some hundred messages or one entry. A save adds
 *          nothing. An earlier version that uses the database beside this one adds entries as usual.
 * SOUGHT2. The vectors of a message are deleted with its conversation. A message that a rewind has left out is not found.
 */
import { type Addition, all, type Asking, type Dialect, lists, numberIn, type Query, rowsOf } from "../sql/index.ts"

/** How many conversations, and about how many messages, are indexed together. */
const [fewChats, fewMessages] = [50, 500]

/** The most characters of a message in the index: each takes less than 8 bytes of a vector, which PostgreSQL limits to 1 MiB. */
const mostCharacters = 100_000

/** Adds the table and the columns of the index; nothing is indexed yet. */
export const searchTable = (prefix: string): Addition => ({
  name: "the index of the search",
  apply: () =>
    all([
      `ALTER TABLE ${prefix}chats ADD COLUMN sought BIGINT NOT NULL DEFAULT 0`,
      `CREATE INDEX chats_unsought ON ${prefix}chats (key) WHERE sought < seq`,
      `CREATE TABLE ${prefix}sought (item BIGINT PRIMARY KEY REFERENCES ${prefix}items (item) ON DELETE CASCADE,
        vector tsvector NOT NULL)`,
      `CREATE INDEX sought_vector ON ${prefix}sought USING gin (vector)`
    ])
})

/** Indexes some messages, and returns whether there may be more (SOUGHT1). A conversation that is being written waits for the next search. */
export const indexSome = (prefix: string) =>
  function* (use: "list" | "search"): Asking<boolean> {
    // A list reads the texts themselves.
    if (use === "list") return false
    const heads = yield* rowsOf(
      `SELECT key, seq, sought FROM ${prefix}chats WHERE sought < seq ORDER BY key LIMIT ${fewChats} FOR UPDATE SKIP LOCKED`
    )
    let left = fewMessages
    for (const head of heads) {
      const [key, newest, sought] = [numberIn(head, "key"), numberIn(head, "seq"), numberIn(head, "sought")]
      const [last] = yield* rowsOf(
        `SELECT seq FROM ${prefix}items WHERE chat = ? AND list = ${lists.messages} AND seq > ? ORDER BY seq LIMIT 1 OFFSET ?`,
        key,
        sought,
        left
      )
      const upTo = last === undefined ? newest : Math.max(numberIn(last, "seq") - 1, sought + 1)
      const added = yield* rowsOf(
        `INSERT INTO ${prefix}sought (item, vector) SELECT item, to_tsvector('simple', left(words, ${mostCharacters}))
          FROM ${prefix}items WHERE chat = ? AND list = ${lists.messages} AND seq > ? AND seq <= ? AND until IS NULL
          AND words IS NOT NULL ON CONFLICT (item) DO NOTHING RETURNING item`,
        key,
        sought,
        upTo
      )
      yield* rowsOf(`UPDATE ${prefix}chats SET sought = ? WHERE key = ?`, upTo, key)
      left -= added.length
      if (upTo < newest || left <= 0) return true
    }
    return heads.length === fewChats
  }

/** The text of a query for any of these beginnings of words. */
export const anyOf = (stems: ReadonlyArray<string>): string => stems.map((stem) => `${stem}:*`).join(" | ")

/** The messages with one of these beginnings of words, the best first (SOUGHT2). */
export const searchQuery = (prefix: string, { stems, where, limit }: Parameters<Dialect["search"]>[0]): Query => ({
  sql: `SELECT id, position, body FROM ${prefix}sought JOIN ${prefix}items USING (item) JOIN ${prefix}chats ON key = chat,
      to_tsquery('simple', ?) AS query
    WHERE ${where.sql} AND vector @@ query AND until IS NULL ORDER BY ts_rank(vector, query, 1) DESC, position DESC LIMIT ?`,
  params: [anyOf(stems), ...where.params, limit]
})
