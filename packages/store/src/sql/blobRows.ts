/**
 * The rows of blobs: the bytes of images and files, by conversation and id.
 *
 * Owns: the rows of the table `blobs`. Does not own the conversations, whose deletion deletes their rows.
 *
 * BLOBROW1. The size of a blob is a column before its bytes: a sum of sizes reads no bytes.
 */
import type { Addition } from "./migrations.ts"
import type { Dialect } from "./dialect.ts"
import { type Asking, checkedId, numberIn, rowsOf, storedKey } from "./query.ts"

/** The bytes of a blob that is stored. */
interface NewBlob {
  readonly id: string
  readonly bytes: Uint8Array
}

/** The blobs. */
export class BlobRows {
  readonly #sql: ReturnType<typeof statements>

  constructor(dialect: Dialect) {
    this.#sql = statements(dialect)
  }

  *put(chat: number, { id, bytes }: NewBlob): Asking<void> {
    yield* rowsOf(this.#sql.put, chat, storedKey(id), bytes.byteLength, bytes)
  }

  *get(chat: string, id: string): Asking<Uint8Array | undefined> {
    const [row] = yield* rowsOf(this.#sql.get, checkedId(chat), storedKey(id))
    const bytes = row?.["bytes"]
    return bytes instanceof Uint8Array ? bytes : undefined
  }

  *size(chat: string): Asking<number> {
    const [row] = yield* rowsOf(this.#sql.size, checkedId(chat))
    return numberIn(row, "size")
  }

  *copy(from: number, to: number): Asking<void> {
    yield* rowsOf(this.#sql.copy, to, from)
  }
}

/** The table of blobs. */
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

const statements = ({ prefix }: Dialect) => {
  const [blobs, chats] = [`${prefix}blobs`, `${prefix}chats`]
  return {
    put: `INSERT INTO ${blobs} (chat, id, size, bytes) VALUES (?, ?, ?, ?) ON CONFLICT (chat, id) DO NOTHING`,
    get: `SELECT bytes FROM ${blobs} WHERE chat = (SELECT key FROM ${chats} WHERE id = ?) AND id = ?`,
    size: `SELECT coalesce(sum(size), 0) AS size FROM ${blobs} WHERE chat = (SELECT key FROM ${chats} WHERE id = ?)`,
    copy: `INSERT INTO ${blobs} (chat, id, size, bytes) SELECT ?, id, size, bytes FROM ${blobs} WHERE chat = ?`
  } as const
}
