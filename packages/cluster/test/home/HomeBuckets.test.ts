import { Store } from "@troupe/chat/store"
import { Clock } from "@troupe/otp"
import { expect, it } from "vitest"
import { HomeBuckets } from "../../src/home/HomeBuckets.ts"

const bucket = Store.bucketOf("c")

/** Buckets whose chats `alive` end when they leave; `leaving` is awaited in between. */
const homeOf = (alive: Set<string>, leaving: () => Promise<void>) =>
  new HomeBuckets({
    placement: { leaseOf: () => ({ epoch: 1, confirmedAt: 0 }), now: () => 0 },
    clock: Clock.test(),
    leaseMs: 1_000,
    claim: async () => {},
    revive: () => {},
    leave: async (buckets) => {
      const ends = [...alive].filter((id) => buckets.includes(Store.bucketOf(id)))
      await leaving()
      for (const id of ends) alive.delete(id)
    }
  })

it.each(["released", "lost"] as const)(
  "CLUSTER5: of a bucket that is %s no chat is left, also none that was started while the others left",
  async (why) => {
    const alive = new Set(["c"])
    const [began, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const home = homeOf(alive, () => {
      began.resolve()
      return end.promise
    })
    await home.gained([bucket], 1)
    const lost = home.losing([bucket], why)
    await began.promise
    // The Troupe starts a chat while it has a fence.
    if (home.fenceOf("c") !== undefined) alive.add("c").add(`c/~/late`)
    end.resolve()
    await lost
    expect([[...alive], home.fenceOf("c")]).toEqual([[], undefined])
  }
)
