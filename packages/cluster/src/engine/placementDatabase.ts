/**
 * The connections of placement to PostgreSQL.
 *
 * Owns: a small pool, from `open` to `close`. Does not own the rows.
 *
 * PLACEDB1. Each statement resolves or rejects within its deadline, also when the server or the network does not answer. After
 *           the deadline its effect is unknown.
 * PLACEDB2. The server ends a statement or a transaction of a program that has stopped, within the deadline.
 */
import { PgClient } from "@effect/sql-pg"
import type { Clock } from "@troupe/otp"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import { SqlError } from "effect/sql/SqlError"
import { ClusterError } from "../placement/index.ts"

export type Row = Readonly<Record<string, unknown>>

/** Runs one statement. */
type Run = (sql: string, params?: ReadonlyArray<unknown>) => Promise<ReadonlyArray<Row>>

/** The open database. `inTransaction` runs statements one after another in one transaction, which takes as long as needed. */
export interface PlacementDatabase {
  readonly run: Run
  readonly inTransaction: (
    statements: (run: RunEffect) => Effect.Effect<void, SqlError | ClusterError>
  ) => Promise<void>
  readonly close: () => Promise<void>
}

/** Runs one statement within a transaction. */
export type RunEffect = (sql: string, params?: ReadonlyArray<unknown>) => Effect.Effect<ReadonlyArray<Row>, SqlError>

/** How the option is written. */
const advice = "check that it runs, and write url as postgres://user:password@host:5432/database"

const protocols: ReadonlySet<string> = new Set(["postgres:", "postgresql:"])

/**
 * Opens the pool. A connection is opened by the first statement.
 *
 * **Errors**: rejects with a `ClusterError` (`database_failed`) for another URL, which may have a password and is in no message.
 */
export const openPlacementDatabase = async (options: {
  readonly url: string
  readonly deadlineMs: number
  readonly clock: Clock.Clock
}): Promise<PlacementDatabase> => {
  const { url, deadlineMs, clock } = options
  if (!URL.canParse(url) || !protocols.has(new URL(url).protocol)) {
    throw new ClusterError("database_failed", `The database of placement has another url; ${advice}`)
  }
  const scope = Scope.makeUnsafe()
  const limit = String(Math.ceil(deadlineMs))
  const client = await Effect.runPromise(
    PgClient.make({
      url: Redacted.make(url),
      maxConnections: 4,
      connectTimeout: deadlineMs,
      keepAlive: 1_000,
      startupParameters: { statement_timeout: limit, idle_in_transaction_session_timeout: limit },
      applicationName: "troupe-placement"
    }).pipe(Scope.provide(scope), Effect.provide(Reactivity.layer))
  )
  const statement: RunEffect = (sql, params = []) => client.unsafe<Row>(sql, params)
  return {
    run: async (sql, params) => within({ clock, deadlineMs, effect: statement(sql, params) }),
    inTransaction: async (statements) => {
      const limitless = Effect.andThen(statement("SET LOCAL statement_timeout = 0"), statements(statement))
      settled(await Effect.runPromiseExit(client.withTransaction(limitless)))
    },
    close: async () => {
      // A connection that does not answer must not hold up the program.
      await within({ clock, deadlineMs, effect: Scope.close(scope, Exit.void) }).catch(() => undefined)
    }
  }
}

/** PLACEDB1. The effect is interrupted after the deadline, and not waited for. */
const within = <A>(options: {
  readonly clock: Clock.Clock
  readonly deadlineMs: number
  readonly effect: Effect.Effect<A, SqlError>
}): Promise<A> => {
  const { clock, deadlineMs, effect } = options
  const { promise: deadline, reject } = Promise.withResolvers<never>()
  const abort = new AbortController()
  const timer = clock.setTimeout(() => {
    abort.abort()
    reject(new ClusterError("database_failed", `The database of placement gave no answer within ${deadlineMs} ms`))
  }, deadlineMs)
  const answer = async (): Promise<A> => {
    try {
      return settled(await Effect.runPromiseExit(effect, { signal: abort.signal }))
    } finally {
      clock.clearTimeout(timer)
    }
  }
  return Promise.race([answer(), deadline])
}

const settled = <A>(exit: Exit.Exit<A, SqlError | ClusterError>): A => {
  if (Exit.isSuccess(exit)) return exit.value
  const cause = Cause.squash(exit.cause)
  if (cause instanceof ClusterError) throw cause
  throw new ClusterError("database_failed", `The database of placement failed: ${reasonOf(cause)}`, { cause })
}

/** The message of the driver, that of the server or the socket, and the advice if no connection was opened. */
const reasonOf = (cause: unknown): string => {
  if (!(cause instanceof SqlError)) return cause instanceof Error ? cause.message : String(cause)
  const { reason } = cause
  const inner = reason.cause instanceof Error ? `: ${reason.cause.message}` : ""
  return `${cause.message}${inner}${reason.operation === "connect" ? `; ${advice}` : ""}`
}
