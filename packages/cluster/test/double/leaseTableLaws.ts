/** The laws of a table of leases, for each of its implementations. */
import { expect } from "vitest"
import type { LeaseTable } from "../../src/lease/leaseTable.ts"

/** A table under test: its lease, and the passing of time. */
export interface TableUnderTest {
  readonly table: LeaseTable
  readonly leaseMs: number
  readonly pass: (ms: number) => Promise<void>
}

const joined = async (table: LeaseTable, address: string): Promise<number> => {
  const member = await table.join({ address, takes: true })
  expect(member).toBeTypeOf("number")
  return member ?? 0
}

const sorted = (shards: ReadonlyArray<number>) => shards.toSorted((one, other) => one - other)

/** The laws, each with a check over a new table. */
export const leaseTableLaws: ReadonlyArray<{
  readonly title: string
  readonly check: (tested: TableUnderTest) => Promise<void>
}> = [
  {
    title: "LTABLE1: a shard that another member has is not acquired, until that member keeps it no longer or leaves",
    check: async ({ table }) => {
      const [a, b] = [await joined(table, "a"), await joined(table, "b")]
      expect(sorted((await table.acquire(a, [0, 1, 2])).shards)).toEqual([0, 1, 2])
      expect((await table.acquire(b, [0, 1, 2])).shards).toEqual([])
      await table.keep(a, [0, 1])
      expect((await table.acquire(b, [0, 1, 2])).shards).toEqual([2])
      expect(await table.homes()).toEqual(new Map([[0, "a"], [1, "a"], [2, "b"]])) // prettier-ignore
      await table.keep(b, [0, 1, 2])
      await table.leave(a)
      expect(sorted((await table.acquire(b, [0, 1, 2])).shards)).toEqual([0, 1, 2])
      await table.keep(b, [])
      expect(await table.homes()).toEqual(new Map())
    }
  },
  {
    title: "LTABLE2: each acquisition of a shard has a newer epoch, also that of its present member",
    check: async ({ table }) => {
      const [a, b] = [await joined(table, "a"), await joined(table, "b")]
      const first = await table.acquire(a, [7])
      const again = await table.acquire(a, [7])
      await table.keep(a, [])
      const other = await table.acquire(b, [7])
      expect([again.shards, other.shards]).toEqual([[7], [7]])
      expect(again.epoch).toBeGreaterThan(first.epoch)
      expect(other.epoch).toBeGreaterThan(again.epoch)
    }
  },
  {
    title: "LTABLE3: an expired member may still renew until another node acquires, and never afterwards",
    check: async ({ table, leaseMs, pass }) => {
      const a = await joined(table, "a")
      await table.acquire(a, [1])
      await pass(leaseMs * 1.2)
      expect(await table.members()).toEqual([])
      expect(await table.homes()).toEqual(new Map())
      expect(await table.renew(a)).toBe(true)
      expect(await table.members()).toEqual([{ address: "a", takes: true }])
      await pass(leaseMs * 1.2)
      const b = await joined(table, "b")
      expect((await table.acquire(b, [1])).shards).toEqual([1])
      expect(await table.renew(a)).toBe(false)
      expect((await table.acquire(a, [2]).catch(() => ({ shards: [] }))).shards).toEqual([])
      expect(await table.homes()).toEqual(new Map([[1, "b"]]))
    }
  },
  {
    title: "LTABLE4: a new member of an address takes over from the older one, which does not join while it lives",
    check: async ({ table }) => {
      const old = await joined(table, "a")
      await table.acquire(old, [1])
      const newer = await joined(table, "a")
      expect(await table.renew(old)).toBe(false)
      expect((await table.acquire(newer, [1])).shards).toEqual([1])
      expect(await table.join({ address: "a", takes: true }, old)).toBeUndefined()
      await table.leave(newer)
      expect(await table.join({ address: "a", takes: true }, old)).toBeGreaterThan(newer)
    }
  },
  {
    title: "a retired member takes no shards and keeps those that it has",
    check: async ({ table }) => {
      const a = await joined(table, "a")
      await table.acquire(a, [1])
      await table.retire(a)
      expect(await table.members()).toEqual([{ address: "a", takes: false }])
      expect(await table.homes()).toEqual(new Map([[1, "a"]]))
      expect(await table.renew(a)).toBe(true)
    }
  }
]
