import { Fake, tool, type TroupeOptions } from "@troupe/chat"
import { Store } from "@troupe/chat/store"
import { Clock } from "@troupe/otp"
import { describe, expect, it } from "vitest"
import * as z from "zod"
import type { Placement } from "../../src/placement/Placement.ts"
import { TestCluster } from "../../src/testing/TestPlacement.ts"
import { nodes, until } from "../double/clusterNodes.ts"

const leaseMs = 5_000

/** Calls of a tool, and the reply to the result. */
const paying = (calls: number): TroupeOptions["adapter"] =>
  Fake.make({
    scripts: [
      ...Array.from({ length: calls }, (_, call) => [
        { toolCall: { id: `t${call}`, name: "pay", arguments: {} } },
        { finish: "tool_calls" as const }
      ]),
      [{ text: "Done." }, { finish: "stop" }],
      [{ text: "More." }, { finish: "stop" }]
    ]
  })

/** Two homes whose leases follow a virtual clock: `a`, which has all buckets, and `b`. */
const homes = async (effect: "read" | "write", run: (at: string) => Promise<string>, calls = 1) => {
  const clock = Clock.test()
  const cluster = new TestCluster({ clock, leaseMs })
  const { node, store } = nodes(paying(calls))
  const placements: Array<Placement> = []
  const home = async (at: string) => {
    const pay = tool({ name: "pay", effect, parameters: z.object({}), execute: () => run(at) })
    const { troupe } = await node({
      troupe: { tools: [pay] },
      cluster: {
        leaseMs,
        drainMs: 100,
        placement: async (address) => {
          const placement = await cluster.node(address)
          placements.push(placement)
          return placement
        }
      }
    })
    await clock.advance(1_000)
    return troupe
  }
  const a = await home("a")
  await until(() => a.isHome("c"))
  return { clock, cluster, store, a, b: await home("b"), placements }
}

const pendingAt = (store: Store.SessionStore) => async (): Promise<boolean> =>
  (await store.load("c"))?.open?.calls.some(({ state }) => state === "intended") === true

describe("the leases of nodes", () => {
  it("CLUSTER4: no handler starts while the lease is not known to hold; the call runs once, at the next home", async () => {
    const ran: Array<string> = []
    // The step that was cut is requested again.
    const calls = 2
    const run = async (at: string): Promise<string> => {
      ran.push(at)
      return "ok"
    }
    const { clock, cluster, a, b, placements } = await homes("read", run, calls)
    cluster.partition(a.address)
    const [at] = placements
    const age = (): number => (at?.now() ?? 0) - (at?.leaseOf(Store.bucketOf("c"))?.confirmedAt ?? 0)
    while (age() < leaseMs * 0.8) await clock.advance(10)
    // The lease has not ended yet, and no renewal was confirmed lately.
    expect([a.isHome("c"), age() < leaseMs]).toEqual([true, true])
    const chat = await a.chat("c")
    const turn = chat.send("Pay", { id: "m1" })
    expect(await turn.receipt).toEqual({ status: "delivered" })
    await until(() => !a.isAlive("c"))
    expect(ran).toEqual([])
    cluster.heal(a.address)
    cluster.kill(a.address)
    await clock.advance(2 * leaseMs)
    const there = await b.chat("c")
    await until(async () => (await there.view()).status === "completed")
    expect(ran).toEqual(["b"])
  })

  it("CLUSTER3, CLUSTER9: a turn with a call whose outcome is unknown is not resumed; a person is asked", async () => {
    const ran: Array<string> = []
    const { clock, cluster, store, a, b } = await homes("write", (at) => {
      ran.push(at)
      return new Promise<never>(() => {})
    })
    const chat = await a.chat("c")
    await chat.send("Pay", { id: "m1" }).receipt
    await until(pendingAt(store))
    await until(() => ran.length === 1)
    cluster.kill(a.address)
    await clock.advance(2 * leaseMs)
    const there = await b.chat("c")
    await until(async () => (await there.view()).status === "awaiting_approval")
    expect((await there.view()).approvals.map(({ kind }) => kind)).toEqual(["unknown_outcome"])
    expect(ran).toEqual(["a"])
  })

  it("CLUSTER1: a home that was frozen for longer than its lease writes nothing when it wakes", async () => {
    const { clock, cluster, store, a, b } = await homes("read", async () => "ok")
    const chat = await a.chat("c")
    await chat.send("Pay").result()
    const old = a.local
    const stale = await old.chat("c")
    cluster.freeze(a.address)
    await clock.advance(2 * leaseMs)
    const there = await b.chat("c")
    const before = (await store.history("c")).length
    await expect(stale.send("More").result()).rejects.toMatchObject({ reason: "moved" })
    expect((await store.history("c")).length).toBe(before)
    expect((await there.send("More").result()).haltedReason).toBe("completed")
    cluster.wake(a.address)
    await clock.advance(1_000)
    await until(() => !a.isAlive("c"))
  })
})

describe("the bounds of a node", () => {
  it("CLUSTER12: a node with `maxLiveChats` busy chats refuses a moved one before it revives it", async () => {
    const errors: Array<unknown> = []
    const { node, placements, store } = nodes(Fake.make({ script: [{ text: "Once " }, { hang: true }] }))
    const a = await node()
    const b = await node({ troupe: { maxLiveChats: 1 }, cluster: { onError: (error) => void errors.push(error) } })
    await placements.move("full", b.troupe.address)
    for (const id of ["full", "c"]) await (await a.troupe.chat(id)).send("Hello", { id: `m-${id}` }).receipt
    await until(async () => (await store.load("c"))?.running === true)
    expect([b.troupe.isAlive("full"), a.troupe.isAlive("c")]).toEqual([true, true])
    await placements.move("c", b.troupe.address)
    await until(() => errors.length > 0)
    const entries = await store.history("c")
    await expect(a.troupe.chat("c")).rejects.toMatchObject({ reason: "overloaded" })
    expect(errors).toMatchObject([{ reason: "overloaded" }])
    expect([b.troupe.isAlive("c"), await store.history("c")]).toEqual([false, entries])
  })
})

describe("a move with a waiting input", () => {
  it("CLREVIVE1, MISSED1: the cut turn is resumed first, and each turn has its own answer", async () => {
    const scripts = [
      [{ text: "Once " }, { hang: true as const }],
      [{ text: "First." }, { finish: "stop" as const }],
      [{ text: "Second." }, { finish: "stop" as const }]
    ]
    const { node, placements, store } = nodes(Fake.make({ scripts }))
    const [, b, c] = [await node(), await node(), await node()]
    const chat = await c.troupe.chat("c")
    const first = chat.send("One", { id: "m1" })
    await first.receipt
    const second = chat.send("Two", { id: "m2" })
    expect(await second.receipt).toEqual({ status: "pending" })
    await placements.move("c", b.troupe.address)
    const results = await Promise.all([first.result(), second.result()])
    expect(results.map(({ finalResponse }) => finalResponse?.outputText)).toEqual(["First.", "Second."])
    const messages = (await store.load("c"))?.thread.messages ?? []
    expect(messages.map(({ content }) => content)).toEqual(["One", "First.", "Two", "Second."])
  })
})
