/**
 * The fences of a store: the newest claimed epoch of each key.
 *
 * Owns: the rows of the table `fences`. Does not own the writes that name a fence.
 *
 * FENCE1. A write that names a fence is refused when a newer epoch of its key is claimed. The check is in the transaction
 *         of the write.
 * FENCE2. When a claim has returned, no write of an older epoch commits. A write locks the row of its key for
 *         sharing, before any other row, until it commits; a claim waits for these writes.
 *
 * FENCE3. A claim of several keys locks their rows in one statement, in the order of the keys, so that two claims at once do
 *         not wait for each other. It claims all keys, or none.
 *
 * A write under an unclaimed key, and a claim:
 *   1. the write adds the row of the key with an epoch before all others, and locks it.
 *   2. the claim waits for the row. The write commits, and then the claim.
 */
import { type Finding, ValidationError } from "@troupe/chat/errors"
import { Store } from "@troupe/chat/store"
import type { Dialect } from "./dialect.ts"
import { type Asking, numberIn, rowsOf, textIn, storedKey } from "./query.ts"

/** The epoch of an unclaimed key. */
const unclaimed = -1

export class Fences {
  readonly #dialect: Dialect
  readonly #sql: ReturnType<typeof statements>

  constructor(dialect: Dialect) {
    this.#dialect = dialect
    this.#sql = statements(dialect)
  }

  /** Claims the epoch of each key, unless a newer one of some key is claimed. FENCE3 */
  *claim(keys: ReadonlyArray<string>, epoch: number): Asking<void> {
    const { sql, params } = this.#dialect.pairs(keys.map((key) => [storedKey(key), epoch]))
    const rows = yield* rowsOf(this.#sql.claim(sql), ...params)
    const claimed = new Set(rows.map((row) => textIn(row, "key")))
    const refused = keys.find((key) => !claimed.has(storedKey(key)))
    if (refused !== undefined) throw Store.refused("store_fenced", refused, epoch)
  }

  /** Refuses the write of an older epoch, and holds off newer claims until the end of the transaction. FENCE1, FENCE2 */
  *check(fence: Store.Fence | undefined): Asking<void> {
    if (fence === undefined) return
    const key = storedKey(fence.key)
    for (;;) {
      const [row] = yield* rowsOf(this.#sql.check, key)
      if (row !== undefined && numberIn(row, "epoch") > fence.epoch) {
        throw Store.refused("store_fenced", fence.key, fence.epoch)
      }
      if (row !== undefined) return
      yield* rowsOf(this.#sql.place, key, unclaimed)
    }
  }
}

/** The keys of a claim, each once. **Errors**: throws a `ValidationError` (`invalid_options`) that names what is invalid. */
export const checkedKeys = (key: string | ReadonlyArray<string>, epoch: number): ReadonlyArray<string> => {
  const keys = typeof key === "string" ? [key] : Array.from(new Set(key))
  const found: Array<Finding> = []
  if (!keys.every((one) => typeof one === "string")) found.push({ field: ["key"], reason: "must_be_a_text" })
  if (!Number.isSafeInteger(epoch) || epoch < 0) found.push({ field: ["epoch"], reason: "must_be_a_whole_number" })
  if (found.length > 0) throw new ValidationError("invalid_options", found)
  return keys
}

const statements = ({ prefix, share }: Dialect) => {
  const fences = `${prefix}fences`
  return {
    claim: (
      pairs: string
    ) => `INSERT INTO ${fences} (key, epoch) SELECT name, number FROM ${pairs} WHERE true ORDER BY name
      ON CONFLICT (key) DO UPDATE SET epoch = excluded.epoch WHERE ${fences}.epoch <= excluded.epoch RETURNING key`,
    check: `SELECT epoch FROM ${fences} WHERE key = ? ${share}`,
    place: `INSERT INTO ${fences} (key, epoch) VALUES (?, ?) ON CONFLICT (key) DO NOTHING`
  } as const
}
