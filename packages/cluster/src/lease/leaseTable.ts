/**
 * The port of the table of leases, which all nodes of a cluster share: its members, and the home of each shard.
 *
 * LTABLE1. A shard belongs to at most one member at a time. It changes its owner only when the former owner has kept it no
 *         longer, or has left.
 * LTABLE2. Each acquisition has an epoch greater than all earlier ones of the shard. The epoch and the owner are written
 *         together, so that a node without the shard never has a newer epoch.
 * LTABLE3. A member whose lease has expired may be removed by any node. A removed member is never renewed. Its shards are
 *         free.
 * LTABLE4. A new member of an address removes the older member of this address. The removed node does not join again while the
 *         newer member lives, so that two nodes with one address do not take turns.
 */

/** A living node. `takes`: it is, or is to be, the home of buckets. */
export interface Member {
  readonly address: string
  readonly takes: boolean
}

/** Shards that a member has acquired, under one epoch. */
export interface Acquired {
  readonly epoch: number
  readonly shards: ReadonlyArray<number>
}

/**
 * The table.
 *
 * - `join`: adds a member and returns its number. With the number of the node's `former` membership it returns `undefined`
 *   while a newer member of the address lives; LTABLE4
 * - `renew`: extends the lease of the member; false when the member is removed
 * - `retire`: the member takes no more shards, and keeps those that it has
 * - `leave`: removes the member and frees its shards
 * - `acquire`: acquires those of the shards that are free or already belong to the member; LTABLE2
 * - `keep`: frees all shards of the member except these
 * - `members`: the living nodes, the oldest first
 * - `homes`: the address of each shard's home
 * - `close`: releases the connections
 *
 * **Errors**: each rejects with a `ClusterError` (`database_failed`); then it may have been done.
 */
export interface LeaseTable {
  readonly join: (member: Member, former?: number) => Promise<number | undefined>
  readonly renew: (member: number) => Promise<boolean>
  readonly retire: (member: number) => Promise<void>
  readonly leave: (member: number) => Promise<void>
  readonly acquire: (member: number, shards: ReadonlyArray<number>) => Promise<Acquired>
  readonly keep: (member: number, shards: ReadonlyArray<number>) => Promise<void>
  readonly members: () => Promise<ReadonlyArray<Member>>
  readonly homes: () => Promise<ReadonlyMap<number, string>>
  readonly close: () => Promise<void>
}
