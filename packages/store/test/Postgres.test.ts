import { Testing } from "@troupe/chat"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { postgres } from "../src/index.ts"
import { type PostgresServer, startPostgres } from "./double/postgresServer.ts"

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.stop())

let schemas = 0
const schema = (): string => `troupe_${process.pid}_${++schemas}`

describe("the store in PostgreSQL", () => {
  test.each(Testing.sessionStoreLaws((options) => postgres(server.url, { ...options, schema: schema() })))(
    "$title",
    async ({ check }) => {
      await expect(check()).resolves.toBeUndefined()
    }
  )
})
