import { Clock } from "@troupe/otp"
import { describe, expect, test } from "vitest"
import { TestCluster } from "../../src/testing/TestPlacement.ts"

const leaseMs = 5_000

const clusterOf = async () => {
  const clock = Clock.test()
  const cluster = new TestCluster({ clock, leaseMs })
  for (const address of ["a:1", "b:1"]) await cluster.node(address)
  await clock.advance(1_000)
  const messages = () => cluster.errors.map(String)
  return { clock, cluster, messages }
}

describe("CLUSTER17: a node reports", () => {
  test("each renewal that fails, and keeps its lease when a later one succeeds", async () => {
    const { clock, cluster, messages } = await clusterOf()
    cluster.partition("b:1")
    await clock.advance(1_500)
    cluster.heal("b:1")
    await clock.advance(2 * leaseMs)
    expect(new Set(messages())).toEqual(new Set(["ClusterError: The node is cut off"]))
  })

  test("MEMBER5: once, that it has lost its lease while it was frozen", async () => {
    const { clock, cluster, messages } = await clusterOf()
    cluster.freeze("a:1")
    await clock.advance(2 * leaseMs)
    expect(messages()).toEqual([])
    cluster.wake("a:1")
    await clock.advance(1_000)
    expect(messages()).toEqual([expect.stringContaining("lost its lease")])
  })
})
