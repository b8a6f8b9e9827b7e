/**
 * The table of leases in memory.
 *
 * Owns: the members and the homes. It is the double of the table in PostgreSQL. LTABLE1–LTABLE4 are in `leaseTable.ts`.
 */
import { shardCount } from "../placement/index.ts"
import type { LeaseTable, Member } from "../lease/index.ts"

interface Entry {
  readonly number: number
  readonly address: string
  takes: boolean
  expiresAt: number
}

interface Home {
  epoch: number
  member: number | undefined
}

/** Makes a table. `now` is the clock of the table. */
export const memoryLeases = ({
  now,
  leaseMs
}: {
  readonly now: () => number
  readonly leaseMs: number
}): LeaseTable => {
  const members = new Map<number, Entry>()
  const homes = Array.from({ length: shardCount }, (): Home => ({ epoch: 0, member: undefined }))
  let newestMember = 0
  let newestEpoch = 0

  const remove = (number: number): void => {
    members.delete(number)
    for (const home of homes) if (home.member === number) home.member = undefined
  }
  const isAlive = ({ expiresAt }: Entry): boolean => expiresAt > now()
  const removeExpired = (): void => {
    for (const entry of members.values()) if (!isAlive(entry)) remove(entry.number)
  }

  return {
    join: async ({ address, takes }, former = Infinity) => {
      const others = [...members.values()].filter((entry) => entry.address === address)
      if (others.some((entry) => entry.number > former && isAlive(entry))) return undefined
      for (const { number } of others) remove(number)
      const number = ++newestMember
      members.set(number, { number, address, takes, expiresAt: now() + leaseMs })
      return number
    },
    renew: async (number) => {
      const entry = members.get(number)
      if (entry !== undefined) entry.expiresAt = now() + leaseMs
      return entry !== undefined
    },
    retire: async (number) => {
      const entry = members.get(number)
      if (entry !== undefined) entry.takes = false
    },
    leave: async (number) => remove(number),
    acquire: async (number, shards) => {
      removeExpired()
      const epoch = ++newestEpoch
      if (!members.has(number)) return { epoch, shards: [] }
      const free = shards.filter((shard) => {
        const owner = homes[shard]?.member
        return owner === undefined || owner === number
      })
      for (const shard of free) homes[shard] = { epoch, member: number }
      return { epoch, shards: free }
    },
    keep: async (number, shards) => {
      const kept = new Set(shards)
      for (const [shard, home] of homes.entries())
        if (home.member === number && !kept.has(shard)) home.member = undefined
    },
    members: async () =>
      [...members.values()].filter(isAlive).map(({ address, takes }): Member => ({ address, takes })),
    homes: async () =>
      new Map(
        homes.flatMap(({ member }, shard) => {
          const entry = member === undefined ? undefined : members.get(member)
          return entry === undefined || !isAlive(entry) ? [] : [[shard, entry.address] as const]
        })
      ),
    close: async () => {}
  }
}
