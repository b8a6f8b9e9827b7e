import { Clock } from "@troupe/otp"
import { expect, test } from "vitest"
import { TestCluster } from "../../src/testing/TestPlacement.ts"
import { bucketCount, bucketsOf, shardCount } from "../../src/placement/bucket.ts"
import { recording } from "../double/recording.ts"

const leaseMs = 5_000

const started = async (...addresses: ReadonlyArray<string>) => {
  const clock = Clock.test()
  const cluster = new TestCluster({ clock, leaseMs })
  const nodes = []
  for (const address of addresses) {
    const placement = await cluster.node(address)
    const listener = recording()
    nodes.push({ placement, listener, unsubscribe: placement.subscribe(listener) })
  }
  await clock.advance(1_000)
  return { clock, cluster, nodes }
}

const [one, two] = ["a:1", "b:1"]

test("the first node gains every bucket, once, under one epoch", async () => {
  const { nodes } = await started(one)
  const [a] = nodes
  expect(a?.listener.calls.map(({ verb }) => verb)).toEqual(["gained"])
  expect(a?.listener.calls[0]?.buckets.toSorted((x, y) => x - y)).toEqual(
    Array.from({ length: bucketCount }, (_, i) => i)
  )
  expect(a?.placement.leaseOf(4_095)?.epoch).toBe(a?.listener.epochs.get(4_095))
  expect(await a?.placement.homeOf(0)).toBe(one)
  expect(await a?.placement.nodes()).toEqual([one])
})

test("LEASE2: a moved bucket changes its home only when losing has resolved, and no other shard does", async () => {
  const { clock, cluster, nodes } = await started(one)
  const slow = Promise.withResolvers<void>()
  nodes[0]?.unsubscribe()
  const listener = recording({ losing: () => slow.promise })
  nodes[0]?.placement.subscribe(listener)
  const b = await cluster.node(two)
  const gained = recording()
  b.subscribe(gained)
  cluster.move(7, two)
  await clock.advance(3_000)
  expect(listener.calls.filter(({ verb }) => verb === "released").map(({ buckets }) => buckets)).toEqual([bucketsOf(7)])
  expect(nodes[0]?.placement.leaseOf(7)).toBeDefined()
  expect(gained.calls).toEqual([])
  slow.resolve()
  await clock.advance(1_000)
  expect(nodes[0]?.placement.leaseOf(7)).toBeUndefined()
  expect(gained.calls.map(({ verb, buckets }) => [verb, buckets])).toEqual([["gained", bucketsOf(7)]])
  expect(gained.epochs.get(7)).toBeGreaterThan(listener.epochs.get(7) ?? Infinity)
  expect(await nodes[0]?.placement.homeOf(7)).toBe(two)
  expect([...listener.violations, ...gained.violations]).toEqual([])
})

test("LEASE1: a bucket has no lease until gained has resolved", async () => {
  const clock = Clock.test()
  const cluster = new TestCluster({ clock })
  const claimed = Promise.withResolvers<void>()
  const a = await cluster.node(one)
  await clock.advance(1_000)
  expect(a.leaseOf(0)).toBeUndefined()
  a.subscribe(recording({ gained: () => claimed.promise }))
  await clock.advance(1_000)
  expect(a.leaseOf(0)).toBeUndefined()
  claimed.resolve()
  await clock.advance(0)
  expect(a.leaseOf(0)).toBeDefined()
})

test("LEASE4: when gained rejects, the shard is free again, and is gained under a newer epoch", async () => {
  const clock = Clock.test()
  const cluster = new TestCluster({ clock })
  const a = await cluster.node(one)
  const failing = { left: 2 }
  const listener = recording({
    gained: async () => {
      if (failing.left-- > 0) throw new Error("the store is away")
    }
  })
  a.subscribe(listener)
  await clock.advance(1_000)
  expect(listener.calls.map(({ verb }) => verb)).toEqual(["gained", "gained", "gained"])
  expect(listener.violations).toEqual([])
  expect(cluster.errors.map(String)).toEqual(["Error: the store is away", "Error: the store is away"])
  expect(a.leaseOf(0)?.epoch).toBe(listener.epochs.get(0))
})

test("TESTC3: a killed node's buckets are gained elsewhere when its lease has expired, and it makes no more calls", async () => {
  const { clock, cluster, nodes } = await started(one, two)
  const [a, b] = nodes
  cluster.kill(one)
  await clock.advance(leaseMs / 2)
  expect(b?.listener.calls).toEqual([])
  await clock.advance(leaseMs / 2 + 500)
  expect(b?.listener.calls.flatMap(({ buckets }) => buckets)).toHaveLength(bucketCount)
  expect(a?.listener.calls.map(({ verb }) => verb)).toEqual(["gained"])
  expect(a?.placement.leaseOf(0)).toBeUndefined()
})

test("LEASE5, MEMBER2: a frozen node that wakes has no lease, loses every bucket once, and joins again", async () => {
  const { clock, cluster, nodes } = await started(one, two)
  const [a, b] = nodes
  const before = a?.placement.leaseOf(3)
  cluster.freeze(one)
  await clock.advance(leaseMs + 1_000)
  expect(b?.placement.leaseOf(3)?.epoch).toBeGreaterThan(before?.epoch ?? Infinity)
  // TESTC2
  expect(a?.placement.leaseOf(3)).toEqual(before)
  cluster.wake(one)
  expect(a?.placement.leaseOf(3)).toBeUndefined()
  await clock.advance(1_000)
  expect(a?.listener.calls.map(({ verb }) => verb)).toEqual(["gained", "lost"])
  expect(await a?.placement.nodes()).toEqual([two, one])
  cluster.move(3, one)
  await clock.advance(1_000)
  expect(a?.placement.leaseOf(3)?.epoch).toBeGreaterThan(b?.listener.epochs.get(3) ?? Infinity)
  expect([a, b].flatMap((node) => node?.listener.violations)).toEqual([])
})

test("MEMBER1, MEMBER3: a node that is cut off keeps its leases until they end, unless it is healed before", async () => {
  const { clock, cluster, nodes } = await started(one, two)
  const [a, b] = nodes
  const epoch = a?.placement.leaseOf(0)?.epoch
  cluster.partition(one)
  await clock.advance(leaseMs / 2)
  expect(a?.placement.leaseOf(0)?.epoch).toBe(epoch)
  cluster.heal(one)
  await clock.advance(leaseMs * 2)
  expect(a?.placement.leaseOf(0)?.epoch).toBe(epoch)
  cluster.partition(one)
  for (let waited = 0; waited < leaseMs; waited += 100) {
    // The lease ends here before any other node has one.
    expect(a?.placement.leaseOf(0) === undefined || b?.placement.leaseOf(0) === undefined).toBe(true)
    await clock.advance(100)
  }
  expect(a?.placement.leaseOf(0)).toBeUndefined()
  expect(a?.listener.calls.map(({ verb }) => verb)).toEqual(["gained", "lost"])
  await clock.advance(leaseMs)
  expect(b?.placement.leaseOf(0)).toBeDefined()
  expect([a, b].flatMap((node) => node?.listener.violations)).toEqual([])
})

test("MEMBER4: a stopped node has released every bucket, and leaves no timer", async () => {
  const { clock, nodes } = await started(one, two)
  const [a, b] = nodes
  await Promise.all([a?.placement.stop(), a?.placement.stop()])
  expect(a?.listener.calls.filter(({ verb }) => verb === "released")).toHaveLength(shardCount)
  await clock.advance(1_000)
  expect(b?.placement.leaseOf(0)).toBeDefined()
  expect(await b?.placement.nodes()).toEqual([two])
  await b?.placement.stop()
  const calls = b?.listener.calls.length
  await clock.advance(60_000)
  expect(b?.listener.calls.length).toBe(calls)
  expect(clock.pending).toBe(0)
})

test("a gateway is a node without buckets, and learns the home of a bucket again when it forgets it", async () => {
  const { clock, cluster } = await started(one, two)
  const gateway = await cluster.node("g:1", { role: "gateway" })
  expect(await gateway.homeOf(5)).toBe(one)
  cluster.move(5, two)
  await clock.advance(1_000)
  expect(await gateway.homeOf(5)).toBe(one)
  gateway.forget(5)
  expect(await gateway.homeOf(5)).toBe(two)
  expect(await gateway.nodes()).toEqual([one, two, "g:1"])
  expect(gateway.leaseOf(5)).toBeUndefined()
})

test("LTABLE4: a node restarted under its address has its buckets at once, and the former one loses them", async () => {
  const { clock, cluster, nodes } = await started(one)
  const again = await cluster.node(one)
  const listener = recording()
  again.subscribe(listener)
  await clock.advance(leaseMs / 2)
  expect(again.leaseOf(0)?.epoch).toBeGreaterThan(nodes[0]?.listener.epochs.get(0) ?? Infinity)
  expect(nodes[0]?.listener.calls.map(({ verb }) => verb)).toEqual(["gained", "lost"])
})

test("one listener at a time is accepted", async () => {
  const { nodes } = await started(one)
  expect(() => nodes[0]?.placement.subscribe(recording())).toThrow("one listener")
})
