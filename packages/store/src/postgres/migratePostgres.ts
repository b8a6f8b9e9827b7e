/**
 * Migrates a schema in PostgreSQL.
 *
 * Programs that migrate at the same time wait for one another: a database lock is held from the check of the version to the
 * end of the transaction.
 */
import { type Asking, migrate, newestVersion, rowsOf, schemaVersion, StoreError } from "../sql/index.ts"
import { postgresBasis, postgresDialect, postgresMigrations } from "./postgresSchema.ts"

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
  yield* rowsOf("SELECT pg_advisory_xact_lock(hashtextextended('troupe ' || ?, 0))", schema)
  // A user without the right to create schemas may still use an existing one.
  const existing = yield* rowsOf("SELECT 1 FROM pg_namespace WHERE nspname = ?", schema)
  if (existing.length === 0) yield* rowsOf(`CREATE SCHEMA "${schema}"`)
  const noted = yield* rowsOf("SELECT 1 FROM pg_tables WHERE schemaname = ? AND tablename = 'migrations'", schema)
  if (noted.length === 0) yield* rowsOf(postgresBasis(prefix))
  const from = yield* schemaVersion(prefix)
  const migrations = postgresMigrations(prefix)
  const newest = newestVersion(migrations)
  if (from <= newest) return yield* migrate(migrations, { prefix, from, now: Math.floor(now) })
  throw new StoreError(
    "newer_schema",
    database,
    `The schema ${schema} has the version ${from}, and this version of @troupe/store knows those up to ${newest}; install a newer one`
  )
}
