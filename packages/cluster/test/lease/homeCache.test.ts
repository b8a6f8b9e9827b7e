import { expect, it } from "vitest"
import { HomeCache } from "../../src/lease/homeCache.ts"

/** A cache, and the table that it reads. */
const cached = (homes: ReadonlyArray<readonly [shard: number, home: string]>) => {
  const table = new Map(homes)
  let reads = 0
  const cache = new HomeCache(async () => {
    reads += 1
    return new Map(table)
  })
  const all = async (...shards: ReadonlyArray<number>) => Promise.all(shards.map((shard) => cache.homeOf(shard)))
  return { cache, table, all, reads: () => reads }
}

it("HOMES1: calls at the same time share one read, and a shard without a home is read again", async () => {
  const { all, table, reads } = cached([[1, "a"]])
  expect(await all(1, 2)).toEqual(["a", undefined])
  expect(reads()).toBe(1)
  table.set(2, "b")
  expect(await all(1, 2)).toEqual(["a", "b"])
  expect(reads()).toBe(2)
})

it("HOMES2: a read that began before `forget` does not bring the address back", async () => {
  const { cache, table, all } = cached([[1, "a"]])
  const before = cache.homeOf(1)
  cache.forget(1)
  table.set(1, "b")
  expect([await before, ...(await all(1))]).toEqual(["a", "b"])
})

it("HOMES3: a forgotten home is asked about none of its shards, and the other homes stay", async () => {
  const { cache, table, all, reads } = cached([
    [1, "a"],
    [2, "a"],
    [3, "b"]
  ])
  await all(1, 2, 3)
  cache.forget(1)
  table.set(1, "b").set(2, "b")
  expect(await all(3)).toEqual(["b"])
  expect(reads()).toBe(1)
  expect(await all(2, 1)).toEqual(["b", "b"])
  expect(reads()).toBe(2)
})

it("HOMES4: while shards without a home are looked for and forgotten, one read runs at a time", async () => {
  let [running, most, reads] = [0, 0, 0]
  const cache = new HomeCache(async () => {
    reads += 1
    most = Math.max(most, ++running)
    await new Promise<void>((resolve) => void setImmediate(resolve))
    running -= 1
    return reads < 5 ? new Map() : new Map([[1, "a"]])
  })
  const look = async (): Promise<void> => {
    while ((await cache.homeOf(1)) === undefined) cache.forget(1)
  }
  await Promise.all(Array.from({ length: 100 }, look))
  expect([most, reads]).toEqual([1, 5])
})
