/**
 * Opens an SQLite file: checks its owner, and migrates its schema.
 *
 * Two programs that create the file at once:
 *   1. both find it without tables.
 *   2. one begins to write; the other waits for the lock.
 *   3. the other gets the lock and checks the version again: nothing is left to do.
 */
import type { Clock } from "@troupe/otp"
import type { DatabaseSync } from "node:sqlite"
import {
  addMissing,
  type Asking,
  migrate,
  newestVersion,
  numberIn,
  rowsOf,
  schemaVersion,
  StoreError
} from "../sql/index.ts"
import { SqliteDatabase } from "./sqliteDatabase.ts"
import { isBusy, sqliteFailure } from "./sqliteFailure.ts"
import { applicationId, sqliteAdditions, sqliteAdditionsBasis, sqliteBasis, sqliteMigrations } from "./sqliteSchema.ts"

interface Opening {
  readonly durability: "power" | "process"
  readonly busyTimeoutMs: number
  readonly clock: Clock.Clock
}

/** Opens the file. **Errors**: throws a `StoreError`. */
export const openSqlite = (path: string, opening: Opening): SqliteDatabase => {
  let connection: DatabaseSync | undefined
  try {
    connection = connect(path, opening.busyTimeoutMs)
    const database = new SqliteDatabase(path, connection)
    database.read(() => checkOwner(path))
    useWriteAheadLog(connection, opening.busyTimeoutMs)
    connection.exec(`PRAGMA synchronous = ${opening.durability === "power" ? "FULL" : "NORMAL"}`)
    database.writeNow(() => upToDate(path, opening.clock))
    return database
  } catch (error) {
    connection?.close()
    throw sqliteFailure(path)(error)
  }
}

/** Loads the driver on first use, so that programs with another store do not load it. */
const connect = (path: string, timeout: number): DatabaseSync => {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite")
  return new DatabaseSync(path, { timeout })
}

const pauseMs = 2

const never = new Int32Array(new SharedArrayBuffer(4))

/**
 * Changes the journal mode as soon as no other connection holds a lock.
 *
 * SQLite applies its busy timeout to reads and writes but not to this change: it fails at once while another program
 * creates or opens the same file.
 */
const useWriteAheadLog = (connection: DatabaseSync, timeoutMs: number): void => {
  for (let waitedMs = 0; ; waitedMs += pauseMs) {
    try {
      return connection.exec("PRAGMA journal_mode = WAL")
    } catch (error) {
      if (!isBusy(error) || waitedMs >= timeoutMs) throw error
      Atomics.wait(never, 0, 0, pauseMs)
    }
  }
}

function* checkOwner(path: string): Asking<void> {
  const [owner] = yield* rowsOf("PRAGMA application_id")
  const [tables] = yield* rowsOf("SELECT count(*) AS count FROM sqlite_schema")
  const id = numberIn(owner, "application_id")
  if (id === applicationId || (id === 0 && numberIn(tables, "count") === 0)) return
  throw new StoreError("another_program", path, `${path} is a database of another program; give another path`)
}

function* upToDate(path: string, clock: Clock.Clock): Asking<void> {
  yield* rowsOf(sqliteBasis)
  const from = yield* schemaVersion("")
  const newest = newestVersion(sqliteMigrations)
  if (from > newest) {
    throw new StoreError(
      "newer_schema",
      path,
      `${path} has the schema ${from}, and this version of @troupe/store supports those up to ${newest}; install a newer one`
    )
  }
  if (from < newest) yield* rowsOf(`PRAGMA application_id = ${applicationId}`)
  const now = Math.floor(clock.now())
  yield* migrate(sqliteMigrations, { prefix: "", from, now })
  yield* rowsOf(sqliteAdditionsBasis)
  yield* addMissing(sqliteAdditions, { prefix: "", now })
}
