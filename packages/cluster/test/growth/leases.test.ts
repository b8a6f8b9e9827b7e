import { Clock } from "@troupe/otp"
import { beforeAll, describe, expect, test } from "vitest"
import { type PostgresAddress, workerPostgres } from "../../../store/test/double/postgresServer.ts"
import { cluster, expectSound, type NodeProcess, placed } from "../double/nodes.ts"

let server: PostgresAddress
beforeAll(async () => {
  server = await workerPostgres()
}, 60_000)

/** When the last of the buckets was gained first. */
const gainedAt = (
  buckets: ReadonlyArray<number>,
  { by, since }: { readonly by: ReadonlyArray<NodeProcess>; readonly since: number }
): number => {
  const first = new Map<number, number>()
  for (const { at, verb, buckets: gained = [] } of by.flatMap(({ lines }) => lines)) {
    if (verb !== "gained" || at < since) continue
    for (const bucket of gained) first.set(bucket, Math.min(at, first.get(bucket) ?? Infinity))
  }
  return Math.max(...buckets.map((bucket) => first.get(bucket) ?? Infinity))
}

const lastGain = ({ lines }: NodeProcess): number =>
  Math.max(...lines.filter(({ verb }) => verb === "gained").map(({ at }) => at))

describe("the time until other nodes have the buckets of a node", { timeout: 180_000 }, () => {
  test.each([1_500, 3_000, 5_000])(
    "a killed node's buckets are gained elsewhere within its lease of %i ms + 1.5 s",
    async (leaseMs) => {
      const node = cluster(server.url, leaseMs)
      const [a, b, c] = [node("a:1"), node("b:1"), node("c:1")]
      await placed(a, b, c)
      const had = [...a.buckets.keys()]
      const killedAt = Clock.live.now()
      a.signal("SIGKILL")
      await placed(b, c)
      const took = gainedAt(had, { by: [b, c], since: killedAt }) - killedAt
      process.stderr.write(`kill at a lease of ${leaseMs} ms: gained elsewhere after ${Math.round(took)} ms\n`)
      expect(took).toBeLessThan(leaseMs + 1_500)
      expectSound([a, b, c])
    }
  )

  test("a node that joins gets a share, and one that stops gives its share to the others at once", async () => {
    const leaseMs = 5_000
    const node = cluster(server.url, leaseMs)
    const a = node("a:1")
    await placed(a)
    const b = node("b:1")
    await placed(a, b)
    const joinedAt = b.lines.find(({ verb }) => verb === "started")?.at ?? 0
    process.stderr.write(`join: the share is gained after ${Math.round(lastGain(b) - joinedAt)} ms\n`)
    expect(lastGain(b) - joinedAt).toBeLessThan(leaseMs)
    const stoppedAt = Clock.live.now()
    b.signal("SIGTERM")
    await b.exited
    await placed(a)
    const stopped = b.lines.find(({ verb }) => verb === "stopped")
    process.stderr.write(
      `stop: ${Math.round(stopped?.ms ?? 0)} ms; gained elsewhere after ${Math.round(lastGain(a) - stoppedAt)} ms\n`
    )
    // The test did not wait for the lease to expire.
    expect(stopped?.ms).toBeLessThan(leaseMs / 2)
    expect(lastGain(a) - stoppedAt).toBeLessThan(leaseMs / 2)
    expect(b.buckets.size).toBe(0)
    // EFFPLACE1: the process ended by itself.
    expect(b.child.exitCode).toBe(0)
    expectSound([a, b])
  })
})
