/**
 * Conversations in a PostgreSQL database.
 *
 * @module
 */
import type { Store } from "@troupe/chat/store"
import { Clock } from "@troupe/otp"
import { checkedOptions } from "../options/index.ts"
import { SqlStore } from "../sql/index.ts"
import { databaseName } from "./databaseName.ts"
import { LazyDatabase } from "./lazyDatabase.ts"
import { postgresDialect } from "./postgresSchema.ts"

/**
 * The options of a store in PostgreSQL.
 *
 * **Units and defaults**: `schema` is the schema of its tables, `"troupe"`, which is created. `maxConnections` is 10.
 * `connectTimeoutMs` is how long a connection may take to open, 5,000. `statementTimeoutMs` is how long a statement may run,
 * 60,000. `idleTransactionTimeoutMs` is how long a transaction may wait for this program, 30,000. The server ends both
 * itself, also when this program has stopped; 0 leaves them to the server's settings, as some poolers demand. An operation
 * without an answer fails `connectTimeoutMs` after the time of a statement, if that has a limit. `keepAliveMs`
 * is the idle time before TCP probes a connection, 30,000. `ttlMs` is how long after its newest entry or input a
 * conversation is kept, in milliseconds; by default for ever. `clock` is the host's.
 */
export interface PostgresOptions {
  readonly schema?: string | undefined
  readonly maxConnections?: number | undefined
  readonly connectTimeoutMs?: number | undefined
  readonly statementTimeoutMs?: number | undefined
  readonly idleTransactionTimeoutMs?: number | undefined
  readonly keepAliveMs?: number | undefined
  readonly ttlMs?: number | undefined
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
  const database = new LazyDatabase(databaseName(url), postgresDialect(schema), async () => {
    const { PostgresDatabase } = await import("./postgresDatabase.ts")
    const limits = { connectTimeoutMs, statementTimeoutMs, idleTransactionTimeoutMs, keepAliveMs }
    return new PostgresDatabase({ url, schema, maxConnections, ...limits, now: () => clock.now() })
  })
  return new SqlStore(database, { clock, ttlMs, isShared: true })
}
