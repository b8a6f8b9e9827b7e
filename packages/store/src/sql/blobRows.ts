/**
 * The rows of blobs: the bytes of images and files, by conversation and id.
 *
 * Owns: the rows of the table `blobs`. Does not own the conversations, whose deletion deletes their rows.
 *
 * BLOBROW1. The size of a blob is a column before its bytes: a sum of sizes reads no bytes, and only rows of its conversations.
 * BLOBROW2. A blob waits in a small table of its own until an entry names it, so that a search for forgotten blobs reads no bytes,
 *           and the entries of each blob once.
 */
import { type Finding, ValidationError } from "@troupe/chat/errors"
import type { Addition } from "./migrations.ts"
import type { Dialect } from "./dialect.ts"
import { prefixRange } from "./listing.ts"
import { type Asking, checkedId, isDistinct, numberIn, rowsOf, storedKey, textIn } from "./query.ts"

/** The bytes of a blob that is stored. */
interface NewBlob {
  readonly id: string
  readonly bytes: Uint8Array
  readonly now: number
}

/** How long a blob may wait for the entry or the input that names it, in milliseconds: an hour. */
const waitMs = 3_600_000

/** Throws a `ValidationError` (`invalid_options`) for a blob that cannot be stored. */
export const checkBlob = (id: unknown, bytes: unknown): void => {
  const found: Array<Finding> = []
  if (typeof id !== "string" || id === "") {
    found.push({ field: ["blob"], reason: "must_be_a_text that is not empty: the digest of the bytes" })
  }
  if (!(bytes instanceof Uint8Array)) found.push({ field: ["bytes"], reason: "must_be_a_Uint8Array" })
  if (found.length > 0) throw new ValidationError("invalid_options", found)
}

export class BlobRows {
  readonly #sql: ReturnType<typeof statements>

  constructor(dialect: Dialect) {
    this.#sql = statements(dialect)
  }

  *put(chat: number, { id, bytes, now }: NewBlob): Asking<void> {
    yield* rowsOf(this.#sql.put, chat, storedKey(id), bytes.byteLength, bytes)
    yield* rowsOf(this.#sql.wait, chat, storedKey(id), now)
  }

  *get(chat: string, id: string): Asking<Uint8Array | undefined> {
    const [row] = yield* rowsOf(this.#sql.get, checkedId(chat), storedKey(id))
    const bytes = row?.["bytes"]
    return bytes instanceof Uint8Array ? bytes : undefined
  }

  /** The bytes of all blobs of the conversations with a prefix. */
  *size(prefix: string): Asking<number> {
    // No stored id has this prefix.
    if (!isDistinct(prefix)) return 0
    const { from, to } = prefixRange(prefix)
    const [row] = yield* rowsOf(this.#sql.size, from, to)
    return numberIn(row, "size")
  }

  /** Copies the blobs that the new conversation names. BLOB3 */
  *copy(from: number, to: number): Asking<void> {
    yield* rowsOf(this.#sql.copy, to, from, to, to)
  }

  /** The time before which a blob that waits was forgotten. */
  forgottenBefore(now: number): number {
    return Math.floor(now) - waitMs
  }

  /** Removes the blobs that nothing named in time. BLOB5 */
  *collect(chat: number, now: number): Asking<void> {
    for (const row of yield* rowsOf(this.#sql.due, chat, this.forgottenBefore(now))) {
      const id = textIn(row, "id")
      const named = yield* rowsOf(this.#sql.named, chat, id, chat, id)
      const waits = named.length === 0 ? yield* rowsOf(this.#sql.awaited, chat, id) : []
      if (waits.length > 0) continue
      if (named.length === 0) yield* rowsOf(this.#sql.remove, chat, id)
      yield* rowsOf(this.#sql.over, chat, id)
    }
  }
}

export const blobTable = (
  { prefix }: Pick<Dialect, "prefix">,
  types: { readonly number: string; readonly bytes: string; readonly end: string }
): Addition => ({
  name: "blobs",
  apply: function* () {
    const { number, bytes, end } = types
    yield* rowsOf(
      `CREATE TABLE ${prefix}blobs (chat ${number} NOT NULL REFERENCES ${prefix}chats (key) ON DELETE CASCADE,
        id TEXT NOT NULL, size ${number} NOT NULL, bytes ${bytes} NOT NULL, PRIMARY KEY (chat, id))${end}`
    )
  }
})

/** The table of the blobs that wait for their message. */
export const waitingBlobTable = (
  { prefix }: Pick<Dialect, "prefix">,
  types: { readonly number: string; readonly end: string }
): Addition => ({
  name: "waiting blobs",
  apply: function* () {
    const { number, end } = types
    yield* rowsOf(
      `CREATE TABLE ${prefix}waiting_blobs (chat ${number} NOT NULL REFERENCES ${prefix}chats (key) ON DELETE CASCADE,
        id TEXT NOT NULL, stored_at ${number} NOT NULL, PRIMARY KEY (chat, id))${end}`
    )
  }
})

/** Whether a column has a text that a parameter, or another column, has. */
const has = (column: string, text: string): string => `replace(${column}, ${text}, '') <> ${column}`

const statements = ({ prefix }: Dialect) => {
  const [blobs, chats, waiting, items, commits, inbox] = [
    "blobs",
    "chats",
    "waiting_blobs",
    "items",
    "commits",
    "inbox"
  ].map((table) => prefix + table)
  return {
    put: `INSERT INTO ${blobs} (chat, id, size, bytes) VALUES (?, ?, ?, ?) ON CONFLICT (chat, id) DO NOTHING`,
    get: `SELECT bytes FROM ${blobs} WHERE chat = (SELECT key FROM ${chats} WHERE id = ?) AND id = ?`,
    size: `SELECT coalesce(sum(size), 0) AS size FROM ${blobs}
      WHERE chat IN (SELECT key FROM ${chats} WHERE id >= ? AND id < ?)`,
    copy: `INSERT INTO ${blobs} (chat, id, size, bytes) SELECT ?, id, size, bytes FROM ${blobs} AS origin WHERE chat = ?
      AND (EXISTS (SELECT 1 FROM ${items} WHERE chat = ? AND ${has("body", "origin.id")})
        OR EXISTS (SELECT 1 FROM ${commits} WHERE chat = ? AND ${has("body", "origin.id")}))
      ON CONFLICT (chat, id) DO NOTHING`,
    wait: `INSERT INTO ${waiting} (chat, id, stored_at) VALUES (?, ?, ?)
      ON CONFLICT (chat, id) DO UPDATE SET stored_at = excluded.stored_at`,
    due: `SELECT id FROM ${waiting} WHERE chat = ? AND stored_at < ?`,
    named: `SELECT 1 AS one FROM ${items} WHERE chat = ? AND ${has("body", "?")}
      UNION ALL SELECT 1 AS one FROM ${commits} WHERE chat = ? AND ${has("body", "?")} LIMIT 1`,
    awaited: `SELECT 1 AS one FROM ${inbox} WHERE chat = ? AND ${has("body", "?")} LIMIT 1`,
    remove: `DELETE FROM ${blobs} WHERE chat = ? AND id = ?`,
    over: `DELETE FROM ${waiting} WHERE chat = ? AND id = ?`
  } as const
}
