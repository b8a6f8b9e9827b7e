/**
 * The schema's versions.
 *
 * MIGRATE1. A migration is applied once, in the transaction that notes it in the table `migrations`.
 * MIGRATE2. A schema newer than this program knows is refused, and not touched.
 */
import { type Asking, numberIn, rowsOf } from "./query.ts"

/** What leads from one version to the next. */
export interface Migration {
  readonly version: number
  readonly name: string
  readonly apply: () => Asking<void>
}

/** The version of the schema; 0 of one without tables. */
export function* schemaVersion(prefix: string): Asking<number> {
  const [row] = yield* rowsOf(`SELECT max(version) AS version FROM ${prefix}migrations`)
  return numberIn(row, "version")
}

/** The version that the last of these migrations leads to. */
export const newestVersion = (migrations: ReadonlyArray<Migration>): number => migrations.at(-1)?.version ?? 0

/** Applies those that come after a version. */
export function* migrate(
  migrations: ReadonlyArray<Migration>,
  { prefix, from, now }: { readonly prefix: string; readonly from: number; readonly now: number }
): Asking<void> {
  for (const { version, name, apply } of migrations) {
    if (version <= from) continue
    yield* apply()
    yield* rowsOf(`INSERT INTO ${prefix}migrations (version, name, applied_at) VALUES (?, ?, ?)`, version, name, now)
  }
}

/** Asks each of these statements. */
export function* all(statements: ReadonlyArray<string>): Asking<void> {
  for (const statement of statements) yield* rowsOf(statement)
}
