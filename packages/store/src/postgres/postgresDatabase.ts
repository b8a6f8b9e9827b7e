/**
 * A PostgreSQL database, over a pool of connections.
 *
 * Owns: the pool, from the first query to `close`. Does not own the rows.
 *
 * PG1. The first operation opens the pool and migrates the schema. If that fails, the next operation tries again.
 * PG2. A write is one statement or one transaction, and resolves after its commit. When the connection is lost during the commit, the result
 *      is unknown, and the write rejects.
 * PG3. `close` waits for pending operations, and releases every connection.
 * PG4. An operation without an answer is given up `connectTimeoutMs` after the time of a statement, and its connection is closed:
 *      the network may have lost it.
 */
import { PgClient } from "@effect/sql-pg"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import type { SqlError } from "effect/sql/SqlError"
import { databaseName } from "./databaseName.ts"
import { type Asking, type Database, type Dialect, type Row, StoreError } from "../sql/index.ts"
import { migratePostgres } from "./migratePostgres.ts"
import { postgresFailure } from "./postgresFailure.ts"
import { postgresDialect } from "./postgresSchema.ts"

/** The options of the connection. */
export interface Reaching {
  readonly url: string
  readonly schema: string
  readonly maxConnections: number
  readonly connectTimeoutMs: number
  readonly statementTimeoutMs: number
  readonly idleTransactionTimeoutMs: number
  readonly keepAliveMs: number
  readonly now: () => number
}

/** An open pool. */
interface Pool {
  readonly client: PgClient.PgClient
  readonly scope: Scope.Closeable
}

/** A refusal that is no error of the database. It is rethrown unchanged. */
class Refusal {
  readonly reason: unknown
  constructor(reason: unknown) {
    this.reason = reason
  }
}

/** One message of a conversation may be as long as PostgreSQL can store, and is read whole. */
const maxMessageSize = 2 ** 30

export class PostgresDatabase implements Database {
  readonly name: string
  readonly dialect: Dialect
  readonly #reaching: Reaching
  readonly #failure: (error: unknown) => unknown
  readonly #texts = new Map<string, string>()
  readonly #underWay = new Set<Promise<unknown>>()
  #pool: Promise<Pool> | undefined

  constructor(reaching: Reaching) {
    this.name = databaseName(reaching.url)
    this.#reaching = reaching
    this.#failure = postgresFailure(this.name)
    this.dialect = postgresDialect(reaching.schema)
  }

  read<A>(ask: () => Asking<A>): Promise<A> {
    return this.#during(({ client }) => this.#drive(client, ask))
  }

  /** PG2: PostgreSQL commits a statement outside of a transaction at its end. */
  atOnce<A>(ask: () => Asking<A | undefined>, otherwise: () => Asking<A>): Promise<A> {
    return this.#during(({ client }) =>
      Effect.flatMap(this.#drive(client, ask), (written) =>
        written === undefined ? client.withTransaction(this.#drive(client, otherwise)) : Effect.succeed(written)
      )
    )
  }

  /** PG2 */
  write<A>(ask: () => Asking<A>): Promise<A> {
    return this.#during(({ client }) => client.withTransaction(this.#drive(client, ask)))
  }

  /** PG3 */
  async close(): Promise<void> {
    await Promise.allSettled(this.#underWay)
    const pool = await this.#pool?.catch(() => undefined)
    if (pool !== undefined) await Effect.runPromise(Scope.close(pool.scope, Exit.void))
  }

  async #during<A>(ask: (pool: Pool) => Effect.Effect<A, SqlError | Refusal>): Promise<A> {
    const operation = this.#ask(ask)
    this.#underWay.add(operation)
    try {
      return await operation
    } finally {
      this.#underWay.delete(operation)
    }
  }

  async #ask<A>(ask: (pool: Pool) => Effect.Effect<A, SqlError | Refusal>): Promise<A> {
    return this.#settled(await Effect.runPromiseExit(this.#inTime(ask(await this.#opened()))))
  }

  /** PG4 */
  #inTime<A>(operation: Effect.Effect<A, SqlError | Refusal>): Effect.Effect<A, SqlError | Refusal> {
    const { statementTimeoutMs, connectTimeoutMs } = this.#reaching
    if (statementTimeoutMs === 0) return operation
    const message = `The database ${this.name} gives no answer; see that it runs and can be reached from here`
    return Effect.timeoutOrElse(operation, {
      duration: statementTimeoutMs + connectTimeoutMs,
      orElse: () => Effect.fail(new Refusal(new StoreError("unreachable", this.name, message)))
    })
  }

  /** PG1 */
  #opened(): Promise<Pool> {
    this.#pool ??= this.#open().catch((error: unknown) => {
      this.#pool = undefined
      throw error
    })
    return this.#pool
  }

  async #open(): Promise<Pool> {
    const { url, schema, maxConnections, connectTimeoutMs, keepAliveMs, now } = this.#reaching
    const scope = Scope.makeUnsafe()
    const opening = Effect.gen({ self: this }, function* () {
      const client = yield* PgClient.make({
        url: Redacted.make(url),
        maxConnections,
        connectTimeout: connectTimeoutMs,
        keepAlive: keepAliveMs,
        startupParameters: sessionLimits(this.#reaching),
        maxMessageSize,
        applicationName: "troupe"
      })
      yield* client.withTransaction(
        this.#drive(client, () => migratePostgres({ database: this.name, schema, now: now() }))
      )
      return { client, scope }
    }).pipe(Scope.provide(scope), Effect.provide(Reactivity.layer))
    const exit = await Effect.runPromiseExit(opening)
    if (Exit.isFailure(exit)) await Effect.runPromise(Scope.close(scope, Exit.void))
    return this.#settled(exit)
  }

  #settled<A>(exit: Exit.Exit<A, SqlError | Refusal>): A {
    if (Exit.isSuccess(exit)) return exit.value
    const error = Cause.squash(exit.cause)
    throw error instanceof Refusal ? error.reason : this.#failure(error)
  }

  #drive<A>(client: PgClient.PgClient, ask: () => Asking<A>): Effect.Effect<A, SqlError | Refusal> {
    return Effect.gen({ self: this }, function* () {
      const asking = ask()
      let rows: ReadonlyArray<Row> = []
      for (;;) {
        const step = yield* next(asking, rows)
        if (step.done === true) return step.value
        rows = yield* client.unsafe<Row>(this.#numbered(step.value.sql), step.value.params)
      }
    })
  }

  /** Converts `?` to PostgreSQL's numbered parameters. */
  #numbered(sql: string): string {
    let text = this.#texts.get(sql)
    if (text === undefined) {
      let place = 0
      text = sql.replaceAll("?", () => `$${++place}`)
      this.#texts.set(sql, text)
    }
    return text
  }
}

/** The server's settings of each connection; a limit of 0 is left to the server. */
const sessionLimits = ({ statementTimeoutMs, idleTransactionTimeoutMs }: Reaching): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries({
      statement_timeout: statementTimeoutMs,
      idle_in_transaction_session_timeout: idleTransactionTimeoutMs
    }).flatMap(([name, ms]) => (ms === 0 ? [] : [[name, String(Math.ceil(ms))]]))
  )

const next = <A>(asking: Asking<A>, rows: ReadonlyArray<Row>) =>
  Effect.try({ try: () => asking.next(rows), catch: (reason) => new Refusal(reason) })
