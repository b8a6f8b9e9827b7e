/**
 * The tables of placement in PostgreSQL, and the protocol of the cluster that they record.
 *
 * CLUSTER11. The number of buckets, their hash, the number of shards and the protocol of placement are part of the schema. A node
 *            with other numbers does not join, and changes nothing.
 */
import * as Effect from "effect/Effect"
import { protocol, shardCount, ClusterError } from "../placement/index.ts"
import type { PlacementDatabase, Row, RunEffect } from "./placementDatabase.ts"

/** The names of the tables in a schema. */
export const placementTables = (schema: string) => {
  const named = (name: string): string => `"${schema}".cluster_${name}`
  return {
    protocol: named("protocol"),
    members: named("members"),
    homes: named("homes"),
    epochs: named("epochs")
  } as const
}

/**
 * Creates what is missing, in one transaction. Programs that start at the same time wait for one another.
 *
 * **Errors**: rejects with a `ClusterError`: `protocol_mismatch`, `database_failed`.
 */
export const preparePlacement = (
  { inTransaction }: Pick<PlacementDatabase, "inTransaction">,
  { schema, numbers = protocol }: { readonly schema: string; readonly numbers?: Readonly<Record<string, string>> }
): Promise<void> =>
  inTransaction((run) =>
    Effect.gen(function* () {
      yield* run("SELECT pg_advisory_xact_lock(hashtextextended('troupe cluster ' || $1, 0))", [schema])
      // A user without the right to create schemas and tables may still use existing ones.
      const existing = yield* run("SELECT 1 FROM pg_tables WHERE schemaname = $1 AND tablename = 'cluster_homes'", [
        schema
      ])
      if (existing.length === 0) yield* create(run, { schema, numbers })
      const rows = yield* run(`SELECT name, value FROM ${placementTables(schema).protocol}`)
      const differences = differing(rows, numbers)
      if (differences.length > 0) return yield* Effect.fail(mismatch(schema, differences))
    })
  )

const create = (run: RunEffect, { schema, numbers }: { readonly schema: string; readonly numbers: object }) =>
  Effect.gen(function* () {
    const tables = placementTables(schema)
    const schemas = yield* run("SELECT 1 FROM pg_namespace WHERE nspname = $1", [schema])
    if (schemas.length === 0) yield* run(`CREATE SCHEMA "${schema}"`)
    yield* run(`CREATE SEQUENCE ${tables.epochs}`)
    yield* run(`CREATE TABLE ${tables.protocol} (name TEXT PRIMARY KEY, value TEXT NOT NULL)`)
    yield* run(
      `CREATE TABLE ${tables.members} (member BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, address TEXT NOT NULL,
        takes BOOLEAN NOT NULL, expires_at TIMESTAMPTZ NOT NULL)`
    )
    yield* run(
      `CREATE TABLE ${tables.homes} (shard INTEGER PRIMARY KEY, epoch BIGINT NOT NULL,
        member BIGINT REFERENCES ${tables.members} ON DELETE SET NULL)`
    )
    yield* run(`INSERT INTO ${tables.homes} (shard, epoch) SELECT shard, 0 FROM generate_series(0, $1::int) AS shard`, [
      shardCount - 1
    ])
    for (const [name, value] of Object.entries(numbers)) {
      yield* run(`INSERT INTO ${tables.protocol} (name, value) VALUES ($1, $2)`, [name, value])
    }
  })

const differing = (rows: ReadonlyArray<Row>, numbers: Readonly<Record<string, string>>): ReadonlyArray<string> => {
  const stored = new Map(rows.map(({ name, value }) => [String(name), String(value)]))
  const names = [...new Set([...stored.keys(), ...Object.keys(numbers)])]
  return names.flatMap((name) =>
    stored.get(name) === numbers[name]
      ? []
      : [`${name} is ${stored.get(name) ?? "missing"} there and ${numbers[name] ?? "missing"} here`]
  )
}

const mismatch = (schema: string, differences: ReadonlyArray<string>): ClusterError =>
  new ClusterError(
    "protocol_mismatch",
    `The cluster of the schema ${schema} has another protocol (${differences.join(", ")}); start a version with the same protocol, or stop all nodes and use another schema`
  )
