/** Maps SQLite's errors to reasons and advice. */
import { existsSync } from "node:fs"
import { dirname, resolve } from "node:path"
import { StoreError, type StoreErrorReason } from "../sql/index.ts"

/** The primary result codes of SQLite for errors that a user can fix. */
const meanings: ReadonlyMap<number, readonly [StoreErrorReason, (path: string) => string]> = new Map([
  [5, ["busy", (path) => `Another program holds the lock of ${path}; try again later`]],
  [6, ["busy", (path) => `A table of ${path} is locked; try again when it is free`]],
  [8, ["read_only", (path) => `${path} may only be read; give this user the right to write the file and its folder`]],
  [10, ["failed", (path) => `${path} could not be read or written; look at the disk`]],
  [11, ["corrupt", (path) => `${path} is damaged; put a backup in its place`]],
  [13, ["full", (path) => `There is no room left for ${path}; make some, nothing that was kept is lost`]],
  [14, ["cannot_open", (path) => cannotOpen(path)]],
  [18, ["failed", (path) => `What was to be written to ${path} is longer than SQLite keeps, one billion bytes`]],
  // Our writes violate no constraint unless the file is damaged.
  [19, ["corrupt", (path) => `${path} is damaged; put a backup in its place`]],
  [26, ["not_a_database", (path) => `${path} is no SQLite database; give another path`]]
])

const cannotOpen = (path: string): string => {
  const folder = dirname(resolve(path))
  return existsSync(folder)
    ? `${path} cannot be opened; give this user the right to read and write the file and its folder`
    : `There is no folder ${folder}; create it, or give another path`
}

const codeOf = (error: unknown): number | undefined =>
  error instanceof Error && "errcode" in error && typeof error.errcode === "number" ? error.errcode & 0xff : undefined

/** Whether another connection holds a lock that the statement needed. */
export const isBusy = (error: unknown): boolean => codeOf(error) === 5

/** Converts an error of the database to one of the store, and returns any other unchanged. */
export const sqliteFailure =
  (path: string) =>
  (error: unknown): unknown => {
    const code = codeOf(error)
    if (code === undefined) return error
    const [reason, say] =
      meanings.get(code) ?? (["failed", () => `SQLite failed with ${path}: ${String(error)}`] as const)
    return new StoreError(reason, path, say(path), { cause: error })
  }
