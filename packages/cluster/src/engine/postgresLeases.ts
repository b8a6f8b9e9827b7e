/**
 * The table of leases in PostgreSQL. LTABLE1–LTABLE4 are in `leaseTable.ts`.
 *
 * Owns: the rows of `cluster_members` and `cluster_homes`. Each operation is one or two statements without a transaction, so
 * that a frozen node holds no lock.
 *
 * PGLEASE1. A home refers to its member by a foreign key that is set to NULL when the member is removed. So a shard is free
 *           exactly when its member is gone.
 * PGLEASE2. All times are the server's. A member counts as expired only by the clock of the server, when its row is locked.
 * PGLEASE3. An acquisition waits for no lock of another node: it skips the shards that are locked.
 *
 * A renewal and a removal of an expired member at the same time:
 *   1. the removal waits for the row that the renewal has locked.
 *   2. it reads the row again, which is no longer expired, and keeps it.
 *
 * Two nodes acquire one shard, and the first frees it again:
 *   1. the second has drawn its epoch before the first.
 *   2. it finds the shard free, with a newer epoch than its own, and does not take it. It tries again.
 */
import type { Acquired, LeaseTable } from "../lease/index.ts"
import type { PlacementDatabase, Row } from "./placementDatabase.ts"
import { placementTables } from "./placementSchema.ts"

/** The table of a schema that is prepared. */
export const postgresLeases = (
  { run, close }: Pick<PlacementDatabase, "run" | "close">,
  { schema, leaseMs }: { readonly schema: string; readonly leaseMs: number }
): LeaseTable => {
  const sql = statements(schema)
  return {
    join: async ({ address, takes }, former) => {
      const [row] = await run(sql.join, [address, takes, leaseMs, former ?? null])
      if (row === undefined) return undefined
      const member = numberIn(row, "member")
      try {
        await run(sql.supersede, [address, member])
      } catch (error) {
        await run(sql.leave, [member]).catch(() => undefined)
        throw error
      }
      return member
    },
    renew: async (member) => (await run(sql.renew, [member, leaseMs])).length > 0,
    retire: async (member) => void (await run(sql.retire, [member])),
    leave: async (member) => void (await run(sql.leave, [member])),
    acquire: async (member, shards) => {
      await run(sql.removeExpired)
      return acquiredOf(await run(sql.acquire, [member, listed(shards)]))
    },
    keep: async (member, shards) => void (await run(sql.keep, [member, listed(shards)])),
    members: async () =>
      (await run(sql.members)).map(({ address, takes }) => ({ address: String(address), takes: takes === true })),
    homes: async () => new Map((await run(sql.homes)).map((row) => [numberIn(row, "shard"), String(row["address"])])),
    close
  }
}

const acquiredOf = (rows: ReadonlyArray<Row>): Acquired => ({
  epoch: rows[0] === undefined ? 0 : numberIn(rows[0], "epoch"),
  shards: rows.map((row) => numberIn(row, "shard"))
})

const numberIn = (row: Row, column: string): number => Number(row[column])

const listed = (shards: ReadonlyArray<number>): string => shards.join(",")

const statements = (schema: string) => {
  const { members, homes, epochs } = placementTables(schema)
  const shards = "string_to_array($2, ',')::int[]"
  const expiry = (ms: string): string => `clock_timestamp() + ${ms}::float8 * INTERVAL '1 millisecond'`
  return {
    join: `INSERT INTO ${members} (address, takes, expires_at) SELECT $1::text, $2::boolean, ${expiry("$3")}
      WHERE NOT EXISTS (SELECT 1 FROM ${members} WHERE address = $1 AND member > $4::bigint AND expires_at > clock_timestamp())
      RETURNING member`,
    supersede: `DELETE FROM ${members} WHERE address = $1 AND member < $2::bigint`,
    renew: `UPDATE ${members} SET expires_at = ${expiry("$2")} WHERE member = $1::bigint RETURNING member`,
    retire: `UPDATE ${members} SET takes = FALSE WHERE member = $1::bigint`,
    leave: `DELETE FROM ${members} WHERE member = $1::bigint`,
    removeExpired: `DELETE FROM ${members} WHERE expires_at < clock_timestamp()`,
    acquire: `WITH free AS (
        SELECT shard FROM ${homes} WHERE shard = ANY(${shards}) AND (member IS NULL OR member = $1::bigint)
          AND EXISTS (SELECT 1 FROM ${members} WHERE member = $1::bigint)
        ORDER BY shard FOR UPDATE SKIP LOCKED
      ), drawn AS (SELECT nextval('${epochs}') AS epoch)
      UPDATE ${homes} AS home SET member = $1::bigint, epoch = drawn.epoch FROM free, drawn
      WHERE home.shard = free.shard AND home.epoch < drawn.epoch RETURNING home.shard, home.epoch`,
    keep: `UPDATE ${homes} SET member = NULL WHERE member = $1::bigint AND shard <> ALL(${shards})`,
    members: `SELECT address, takes FROM ${members} WHERE expires_at > clock_timestamp() ORDER BY member`,
    homes: `SELECT shard, address FROM ${homes} JOIN ${members} USING (member) WHERE expires_at > clock_timestamp()`
  } as const
}
