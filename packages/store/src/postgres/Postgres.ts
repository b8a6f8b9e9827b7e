/**
 * Conversations in a PostgreSQL database.
 *
 * @module
 */
import type { Store } from "@troupe/chat/store"
import { Clock } from "@troupe/otp"
import { checkedOptions } from "../options/index.ts"
import { SqlStore, StoreError } from "../sql/index.ts"
import { databaseName } from "./databaseName.ts"
import { LazyDatabase } from "./lazyDatabase.ts"
import { postgresDialect } from "./postgresSchema.ts"

const missingDriver = "PostgreSQL needs a driver beside this package; install it: npm install @effect/sql-pg"

/**
 * The options of a store in PostgreSQL.
 *
 * **Errors**: an operation without an answer fails `connectTimeoutMs` after the time of a statement, if that has a limit.
 */
export interface PostgresOptions {
  /** The schema of its tables, which is created. Default: `"troupe"`. */
  readonly schema?: string | undefined
  /** The most connections at the same time. Default: 10. */
  readonly maxConnections?: number | undefined
  /** How long a connection may take to open, in milliseconds. Default: 5,000. */
  readonly connectTimeoutMs?: number | undefined
  /**
   * How long a statement may run, in milliseconds. Default: 60,000. The database ends it, also when this program has stopped. 0
   * leaves it to the settings of the database, as some poolers demand.
   */
  readonly statementTimeoutMs?: number | undefined
  /**
   * How long a transaction may wait for this program, in milliseconds. Default: 30,000. The database ends it, also when this
   * program has stopped. 0 leaves it to the settings of the database, as some poolers demand.
   */
  readonly idleTransactionTimeoutMs?: number | undefined
  /** How long a connection may be idle before TCP probes it, in milliseconds. Default: 30,000. */
  readonly keepAliveMs?: number | undefined
  /** How long a conversation is kept after its newest entry or input, in milliseconds. Default: for ever. */
  readonly ttlMs?: number | undefined
  /** The clock of the entries' dates and of `ttlMs`. Default: the host's. */
  readonly clock?: Clock.Clock | undefined
}

/**
 * Stores conversations in a PostgreSQL database, `postgres://user:password@host:5432/database`.
 *
 * **Details**: the first operation opens connections and migrates the schema. A save is one statement. `close` releases the connections. The
 * server's settings determine the durability of a save; by default a save survives the end of either machine. An id has at
 * most 2,048 bytes.
 *
 * **Errors**: throws a `ValidationError` (`invalid_options`) for invalid options. The verbs reject with a `StoreError` when
 * the server cannot be reached, refuses the user, has a newer schema, or fails; the next operation tries again.
 *
 * **Concurrency**: any number of programs may use one schema. A writer of a conversation locks its row until the commit.
 *
 * @example
 * ```ts
 * const store = postgres("postgres://troupe:secret@db.internal/chats")
 * const troupe = await Troupe.start({ adapter, store })
 * ```
 */
export const postgres = (url: string, options: PostgresOptions = {}): Store.SessionStore => {
  const {
    schema = "troupe",
    maxConnections = 10,
    connectTimeoutMs = 5_000,
    statementTimeoutMs = 60_000,
    idleTransactionTimeoutMs = 30_000,
    keepAliveMs = 30_000,
    clock = Clock.live,
    ttlMs
  } = checkedOptions("postgres", url, options)
  const name = databaseName(url)
  const database = new LazyDatabase(name, postgresDialect(schema), async () => {
    const { PostgresDatabase } = await import("./postgresDatabase.ts").catch((cause: unknown) => {
      throw new StoreError("failed", name, missingDriver, { cause })
    })
    const limits = { connectTimeoutMs, statementTimeoutMs, idleTransactionTimeoutMs, keepAliveMs }
    return new PostgresDatabase({ url, schema, maxConnections, ...limits, now: () => clock.now() })
  })
  return new SqlStore(database, { clock, ttlMs, isShared: true })
}
