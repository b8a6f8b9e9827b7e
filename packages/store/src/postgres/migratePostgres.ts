/**
 * Migrates a schema in PostgreSQL.
 *
 * Programs that migrate at the same time wait for one another: a database lock is held from the check of the version to the
 * end of the transaction.
 */
import { addMissing, type Asking, migrate, newestVersion, rowsOf, schemaVersion, StoreError } from "../sql/index.ts"
import {
  postgresAdditions,
  postgresAdditionsBasis,
  postgresBasis,
  postgresDialect,
  postgresMigrations
} from "./postgresSchema.ts"

/** The whole migration, in one transaction. **Errors**: throws a `StoreError` for a newer schema. */
export function* migratePostgres({
  database,
  schema,
  now
}: {
  readonly database: string
  readonly schema: string
  readonly now: number
}): Asking<void> {
  const { prefix } = postgresDialect(schema)
  // A migration of many conversations takes its time.
  yield* rowsOf("SET LOCAL statement_timeout = 0")
  yield* rowsOf("SELECT pg_advisory_xact_lock(hashtextextended('troupe ' || ?, 0))", schema)
  // A user without the right to create schemas may still use an existing one.
  const existing = yield* rowsOf("SELECT 1 FROM pg_namespace WHERE nspname = ?", schema)
  if (existing.length === 0) yield* rowsOf(`CREATE SCHEMA "${schema}"`)
  yield* createdOnce("migrations", postgresBasis(prefix))
  const from = yield* schemaVersion(prefix)
  const migrations = postgresMigrations(prefix)
  const newest = newestVersion(migrations)
  if (from > newest) {
    throw new StoreError(
      "newer_schema",
      database,
      `The schema ${schema} has the version ${from}, and this version of @troupe/store supports those up to ${newest}; install a newer one`
    )
  }
  const at = Math.floor(now)
  yield* migrate(migrations, { prefix, from, now: at })
  yield* createdOnce("additions", postgresAdditionsBasis(prefix))
  yield* addMissing(postgresAdditions(schema), { prefix, now: at })

  /** A user without the right to create tables may still use an existing one. */
  function* createdOnce(table: string, create: string): Asking<void> {
    const noted = yield* rowsOf("SELECT 1 FROM pg_tables WHERE schemaname = ? AND tablename = ?", schema, table)
    if (noted.length === 0) yield* rowsOf(create)
  }
}
