import { Clock } from "@troupe/otp"
import { createServer, type Socket } from "node:net"
import { beforeAll, describe, expect, test } from "vitest"
import { queries } from "../../../store/test/double/queries.ts"
import { type PostgresAddress, workerPostgres } from "../../../store/test/double/postgresServer.ts"
import { ClusterError } from "../../src/index.ts"
import { protocol, shardCount } from "../../src/placement/bucket.ts"
import { openPlacementDatabase } from "../../src/engine/placementDatabase.ts"
import { preparePlacement } from "../../src/engine/placementSchema.ts"
import { leaseTableLaws } from "../double/leaseTableLaws.ts"
import { freshSchema, openTable } from "../double/postgresTable.ts"

let server: PostgresAddress
beforeAll(async () => {
  server = await workerPostgres()
}, 60_000)

const leaseMs = 2_000

describe("the table of leases in PostgreSQL", () => {
  test.each(leaseTableLaws)("$title", async ({ check }) => {
    const { schema, table } = await openTable(server.url, { leaseMs })
    const pass = async (ms: number) => {
      await queries(server.url, [
        `UPDATE ${schema}.cluster_members SET expires_at = expires_at - ${ms} * INTERVAL '1 millisecond'`
      ])
    }
    await expect(check({ table, leaseMs, pass })).resolves.toBeUndefined()
    await table.close()
  })

  test("LTABLE1, LTABLE2: nodes that acquire and free the same shards at once never share one, and epochs never fall", async () => {
    const { schema, table } = await openTable(server.url, { leaseMs: 60_000 })
    const shards = Array.from({ length: 20 }, (_, shard) => shard)
    const owners = new Map<number, number>()
    const epochs = new Map<number, number>()
    const violations: Array<string> = []
    const work = async (index: number) => {
      const member = (await table.join({ address: `n${index}`, takes: true })) ?? 0
      for (let round = 0; round < 30; round++) {
        const { epoch, shards: acquired } = await table.acquire(member, shards)
        for (const shard of acquired) {
          if (owners.has(shard)) violations.push(`${shard} is shared`)
          if ((epochs.get(shard) ?? 0) >= epoch) violations.push(`the epoch of ${shard} falls`)
          owners.set(shard, member)
          epochs.set(shard, epoch)
        }
        await Promise.resolve()
        for (const shard of acquired) owners.delete(shard)
        await table.keep(member, [])
        await table.renew(member)
      }
    }
    await Promise.all(Array.from({ length: 6 }, (_, index) => work(index)))
    expect(violations).toEqual([])
    expect(epochs.size).toBe(20)
    const rows = await queries(server.url, [`SELECT count(*)::int AS count FROM ${schema}.cluster_homes`])
    expect(rows).toEqual([{ count: shardCount }])
    await table.close()
  })

  test("PLACEDB1, PGLEASE3: a lock that a stopped program holds delays no acquisition of other shards", async () => {
    const { schema, table } = await openTable(server.url, { leaseMs: 60_000 })
    const member = (await table.join({ address: "a", takes: true })) ?? 0
    const held = queries(server.url, [
      "BEGIN",
      `SELECT 1 FROM ${schema}.cluster_homes WHERE shard = 1 FOR UPDATE`,
      "SELECT pg_sleep(1)",
      "COMMIT"
    ])
    const sleeping = "SELECT count(*)::int AS count FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(1)'"
    await expect.poll(() => queries(server.url, [sleeping])).toEqual([{ count: 1 }])
    expect((await table.acquire(member, [0, 1, 2])).shards).toEqual([0, 2])
    await held
    expect((await table.acquire(member, [1])).shards).toEqual([1])
    await table.close()
  })
})

describe("CLUSTER11", () => {
  test("a node with another protocol does not join, and changes nothing", async () => {
    const { schema, database, table } = await openTable(server.url)
    const refused: unknown = await preparePlacement(database, {
      schema,
      numbers: { ...protocol, placement: "2", colour: "red" }
    }).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(ClusterError)
    expect(refused).toMatchObject({
      reason: "protocol_mismatch",
      message: `The cluster of the schema ${schema} has another protocol (placement is 1 there and 2 here, colour is missing there and red here); start a version with the same protocol, or stop all nodes and use another schema`
    })
    await preparePlacement(database, { schema })
    await table.close()
  })

  test("nodes that start at the same time create the tables once", async () => {
    const schema = freshSchema()
    const opened = await Promise.all(Array.from({ length: 4 }, () => openTable(server.url, { schema })))
    await Promise.all(opened.map(({ table }) => table.close()))
    const rows = await queries(server.url, [`SELECT name, value FROM ${schema}.cluster_protocol`])
    expect(Object.fromEntries(rows.map(({ name, value }) => [name, value]))).toEqual(protocol)
  })
})

describe("PLACEDB1", () => {
  test("a server that gives no answer fails the statement within the deadline, and close leaves no connection", async () => {
    const sockets = new Set<Socket>()
    const silent = createServer((socket) => void sockets.add(socket))
    await new Promise<void>((resolve) => void silent.listen(0, "127.0.0.1", resolve))
    const address = silent.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    const url = `postgres://troupe:secret@127.0.0.1:${port}/postgres`
    const database = await openPlacementDatabase({ url, deadlineMs: 200, clock: Clock.live })
    await expect(database.run("SELECT 1")).rejects.toMatchObject({ reason: "database_failed" })
    await database.close()
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => void silent.close(resolve))
  })

  test("a closed table leaves no connection", async () => {
    const { table } = await openTable(server.url)
    await table.members()
    await table.close()
    const count = "SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name = 'troupe-placement'"
    await expect.poll(() => queries(server.url, [count])).toEqual([{ count: 0 }])
  })
})
