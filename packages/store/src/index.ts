/**
 * Conversations in SQLite or PostgreSQL.
 *
 * @module
 */
export { sqlite } from "./Sqlite.ts"
export type { SqliteOptions } from "./Sqlite.ts"
export { StoreError } from "./StoreError.ts"
export type { StoreErrorReason } from "./StoreError.ts"
export { postgres } from "./Postgres.ts"
export type { PostgresOptions } from "./Postgres.ts"
