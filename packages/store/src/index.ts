/**
 * Conversations in SQLite or PostgreSQL, and their images and files in a folder.
 *
 * @module
 */
export { sqlite } from "./sqlite/Sqlite.ts"
export type { SqliteOptions } from "./sqlite/Sqlite.ts"
export { blobFolder } from "./folder/blobFolder.ts"
export type { BlobFolderOptions } from "./folder/blobFolder.ts"
export { StoreError } from "./sql/StoreError.ts"
export type { StoreErrorReason } from "./sql/StoreError.ts"
export { postgres } from "./postgres/Postgres.ts"
export type { PostgresOptions } from "./postgres/Postgres.ts"
