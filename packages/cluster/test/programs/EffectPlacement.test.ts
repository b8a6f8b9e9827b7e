import { Clock } from "@troupe/otp"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { beforeAll, describe, expect, test } from "vitest"
import { queries } from "../../../store/test/double/queries.ts"
import { type PostgresAddress, workerPostgres } from "../../../store/test/double/postgresServer.ts"
import { start } from "../../src/engine/EffectPlacement.ts"
import { startPlacement } from "../../src/engine/startPlacement.ts"
import { bucketCount, protocol } from "../../src/placement/bucket.ts"
import { cluster, expectSound, placed, spread } from "../double/nodes.ts"
import { freshSchema } from "../double/postgresTable.ts"
import { recording } from "../double/recording.ts"

let server: PostgresAddress
beforeAll(async () => {
  server = await workerPostgres()
}, 60_000)

describe("nodes in processes of their own", { timeout: 180_000 }, () => {
  test("a node that joins gets a share; a frozen one loses its buckets, and joins again; one that stops gives its share away", async () => {
    const node = cluster(server.url, 1_500)
    const a = node("a:1")
    await placed(a)
    const b = node("b:1")
    await placed(a, b)

    const had = new Map(a.buckets)
    a.signal("SIGSTOP")
    await expect.poll(() => b.buckets.size, spread).toBe(bucketCount)
    for (const [bucket, epoch] of had) expect(b.buckets.get(bucket)).toBeGreaterThan(epoch)
    const wokenAt = Clock.live.now()
    a.signal("SIGCONT")
    await placed(a, b)
    const after = a.lines.filter(({ at }) => at > wokenAt - 1)
    const woke = after.find(({ verb }) => verb === "woke")
    expect(woke?.leases).toBe(0)
    const lost = after.filter(({ verb }) => verb === "lost").flatMap(({ buckets = [] }) => buckets)
    expect([...had.keys()].filter((bucket) => !lost.includes(bucket))).toEqual([])

    b.signal("SIGTERM")
    await b.exited
    await placed(a)
    expect(b.buckets.size).toBe(0)
    // EFFPLACE1: the process ended by itself.
    expect(b.child.exitCode).toBe(0)
    expectSound([a, b])
  })
})

describe("a placement", () => {
  test("EFFPLACE1: a stopped placement has released its buckets and leaves no connection", async () => {
    const schema = freshSchema()
    const placement = await start({ url: server.url, schema, address: "a:1", leaseMs: 5_000 })
    const listener = recording()
    placement.subscribe(listener)
    await expect.poll(() => placement.leaseOf(0), spread).toBeDefined()
    const gateway = await start({ url: server.url, schema, address: "g:1", role: "gateway" })
    expect(await gateway.homeOf(0)).toBe("a:1")
    expect(await gateway.nodes()).toEqual(["a:1", "g:1"])
    await Promise.all([placement.stop(), placement.stop()])
    expect(placement.leaseOf(0)).toBeUndefined()
    gateway.forget(0)
    expect(await gateway.homeOf(0)).toBeUndefined()
    await gateway.stop()
    expect(listener.violations).toEqual([])
    const count = "SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name = 'troupe-placement'"
    await expect.poll(() => queries(server.url, [count])).toEqual([{ count: 0 }])
    const members = await queries(server.url, [`SELECT count(*)::int AS count FROM ${schema}.cluster_members`])
    expect(members).toEqual([{ count: 0 }])
  })

  test("MEMBER3: leases outlast a short failure of the database's connections", async () => {
    const schema = freshSchema()
    const errors: Array<unknown> = []
    const placement = await start({
      url: server.url,
      schema,
      address: "a:1",
      leaseMs: 3_000,
      report: (error) => void errors.push(error)
    })
    const listener = recording()
    placement.subscribe(listener)
    await expect.poll(() => placement.leaseOf(0), spread).toBeDefined()
    const before = placement.leaseOf(0)
    const end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'troupe-placement'"
    await queries(server.url, [end])
    await expect.poll(() => placement.leaseOf(0)?.confirmedAt, spread).toBeGreaterThan(before?.confirmedAt ?? Infinity)
    expect(placement.leaseOf(0)?.epoch).toBe(before?.epoch)
    expect(listener.calls.filter(({ verb }) => verb !== "gained")).toEqual([])
    await placement.stop()
  })

  test("CLUSTER11, EFFPLACE2: with another protocol it does not start, and leaves nothing", async () => {
    const schema = freshSchema()
    const gateway = await start({ url: server.url, schema, address: "g:1", role: "gateway" })
    const other = start({
      url: server.url,
      schema,
      address: "a:1",
      protocol: { ...protocol, placement: "2" }
    })
    await expect(other).rejects.toMatchObject({ _tag: "ClusterError", reason: "protocol_mismatch" })
    expect(await gateway.nodes()).toEqual(["g:1"])
    await gateway.stop()
  })

  test("EFFPLACE2: when the engine does not start, the error is that of the engine, and nothing is left", async () => {
    const schema = freshSchema()
    const failing = startPlacement({ url: server.url, schema, address: "a:1" }, () =>
      Layer.effectDiscard(Effect.die(new Error("no engine")))
    )
    await expect(failing).rejects.toThrow("no engine")
    await expectNothingLeft(schema)
  })

  test("EFFPLACE2: when the node has joined and its former membership cannot be removed, the new one is", async () => {
    const schema = freshSchema()
    await (await start({ url: server.url, schema, address: "g:1", role: "gateway" })).stop()
    await queries(server.url, [
      `INSERT INTO ${schema}.cluster_members (address, takes, expires_at) VALUES ('a:1', FALSE, now() - INTERVAL '1 hour')`,
      `CREATE FUNCTION ${schema}.refuse() RETURNS trigger AS $$ BEGIN RAISE EXCEPTION 'kept for the test'; END $$ LANGUAGE plpgsql`,
      `CREATE TRIGGER refuse BEFORE DELETE ON ${schema}.cluster_members FOR EACH ROW
        WHEN (old.expires_at < now()) EXECUTE FUNCTION ${schema}.refuse()`
    ])
    const failing = start({ url: server.url, schema, address: "a:1" })
    await expect(failing).rejects.toMatchObject({
      reason: "database_failed",
      message: expect.stringContaining("kept for the test")
    })
    await queries(server.url, [`DROP TRIGGER refuse ON ${schema}.cluster_members`])
    await queries(server.url, [`DELETE FROM ${schema}.cluster_members WHERE expires_at < now()`])
    await expectNothingLeft(schema)
  })

  test.each([
    ["that is no URL", "my database", /write url as postgres:\/\/user:password@host:5432\/database/u],
    ["of another protocol", "http://127.0.0.1:1/x", /write url as postgres:/u],
    ["without a user", "postgres://127.0.0.1:1/x", /No username configured.*write url as postgres:/u],
    ["where nothing listens", "postgres://a:secret@127.0.0.1:1/x", /ECONNREFUSED 127\.0\.0\.1:1.*write url as/u]
  ])("a url %s is a typed error that describes the right one", async (_, url, message) => {
    const failure: unknown = await start({ url, address: "a:1" }).catch((error: unknown) => error)
    expect(failure).toMatchObject({ _tag: "ClusterError", reason: "database_failed" })
    expect(String(failure)).toMatch(message)
    expect(String(failure)).not.toContain("secret")
  })
})

/** EFFPLACE2 */
const expectNothingLeft = async (schema: string): Promise<void> => {
  const count = "SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name = 'troupe-placement'"
  await expect.poll(() => queries(server.url, [count])).toEqual([{ count: 0 }])
  const rows = `SELECT (SELECT count(*)::int FROM ${schema}.cluster_members) AS members,
    (SELECT count(member)::int FROM ${schema}.cluster_homes) AS homes`
  expect(await queries(server.url, [rows])).toEqual([{ members: 0, homes: 0 }])
}
