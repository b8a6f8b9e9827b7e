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
 * A write under an unclaimed key, and a claim:
 *   1. the write adds the row of the key with an epoch before all others, and locks it.
 *   2. the claim waits for the row. The write commits, and then the claim.
 */
import { type Finding, ValidationError } from "@troupe/chat/errors"
import { Store } from "@troupe/chat/store"
import type { Dialect } from "./dialect.ts"
import { type Asking, numberIn, rowsOf } from "./query.ts"
import { storedKey } from "./storedText.ts"

/** The epoch of an unclaimed key. */
const unclaimed = -1

/** The fences. */
export class Fences {
  readonly #sql: ReturnType<typeof statements>

  constructor(dialect: Dialect) {
    this.#sql = statements(dialect)
  }

  /** Claims the epoch, unless a newer one is claimed. */
  *claim({ key, epoch }: Store.Fence): Asking<void> {
    const claimed = yield* rowsOf(this.#sql.claim, storedKey(key), epoch)
    if (claimed.length === 0) throw Store.refused("store_fenced", key, epoch)
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

/** The fence of a claim. **Errors**: throws a `ValidationError` (`invalid_options`) that names what is invalid. */
export const checkedFence = (key: string, epoch: number): Store.Fence => {
  const found: Array<Finding> = []
  if (typeof key !== "string") found.push({ field: ["key"], reason: "must_be_a_text" })
  if (!Number.isSafeInteger(epoch) || epoch < 0) found.push({ field: ["epoch"], reason: "must_be_a_whole_number" })
  if (found.length > 0) throw new ValidationError("invalid_options", found)
  return { key, epoch }
}

const statements = ({ prefix, share }: Dialect) => {
  const fences = `${prefix}fences`
  return {
    claim: `INSERT INTO ${fences} (key, epoch) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET epoch = excluded.epoch
      WHERE ${fences}.epoch <= excluded.epoch RETURNING epoch`,
    check: `SELECT epoch FROM ${fences} WHERE key = ? ${share}`,
    place: `INSERT INTO ${fences} (key, epoch) VALUES (?, ?) ON CONFLICT (key) DO NOTHING`
  } as const
}
