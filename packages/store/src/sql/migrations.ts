/**
 * The schema's versions.
 *
 * MIGRATE1. A migration is applied once, in the transaction that records it in the table `migrations`.
 * MIGRATE2. A schema newer than this program is refused, and not changed.
 * MIGRATE3. An addition is a table, an index, or a column with a default. It has a name instead of a version, so that
 *           earlier programs use the database beside this one. It is applied once, in the transaction that records it in
 *           the table `additions`.
 */
import { type Asking, numberIn, rowsOf, textIn } from "./query.ts"

/** A migration from one version to the next. */
export interface Migration {
  readonly version: number
  readonly name: string
  readonly apply: () => Asking<void>
}

/** The version of the schema; 0 if there are no tables. */
export function* schemaVersion(prefix: string): Asking<number> {
  const [row] = yield* rowsOf(`SELECT max(version) AS version FROM ${prefix}migrations`)
  return numberIn(row, "version")
}

/** The version after the last of these migrations. */
export const newestVersion = (migrations: ReadonlyArray<Migration>): number => migrations.at(-1)?.version ?? 0

/** Applies the migrations after a version. */
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

/** An addition to the newest schema that earlier programs need not use (MIGRATE3). */
export interface Addition {
  readonly name: string
  readonly apply: () => Asking<void>
}

/** Applies the additions that are missing, in their order. */
export function* addMissing(
  additions: ReadonlyArray<Addition>,
  { prefix, now }: { readonly prefix: string; readonly now: number }
): Asking<void> {
  const rows = yield* rowsOf(`SELECT name FROM ${prefix}additions`)
  const present = new Set(rows.map((row) => textIn(row, "name")))
  for (const { name, apply } of additions) {
    if (present.has(name)) continue
    yield* apply()
    yield* rowsOf(`INSERT INTO ${prefix}additions (name, applied_at) VALUES (?, ?)`, name, now)
  }
}

/** Runs each of these statements. */
export function* all(statements: ReadonlyArray<string>): Asking<void> {
  for (const statement of statements) yield* rowsOf(statement)
}
