/**
 * The port of placement: which node is the home of which bucket of conversations.
 *
 * **Details**: a bucket is a number from 0 to 4,095 (`bucketOf` of a conversation's id). At most one node at a time believes
 * to be the home of a bucket, except for a node that is frozen, or slow to notice a lost lease: the epoch of the newer home
 * fences its writes.
 *
 * @module
 */

/** The lease of a bucket on this node. */
export interface Lease {
  /** Grows with each change of the home; the fence of the writes of this home. */
  readonly epoch: number
  /** The time when the lease was last confirmed, in milliseconds of this node's monotonic clock. */
  readonly confirmedAt: number
}

/** The functions that a placement calls when the leases of this node change. */
export interface PlacementListener {
  /**
   * This node is the home of these buckets now, under this epoch. The promise resolves when it has claimed the epoch in the
   * store; until then the buckets have no lease (`leaseOf`). When it rejects, the buckets are free again, without a call of
   * `losing`. A bucket is gained again only when its `losing` has resolved.
   */
  readonly gained: (buckets: ReadonlyArray<number>, epoch: number) => Promise<void>
  /**
   * This node is to release these buckets (`released`), or has lost them (`lost`). A released bucket goes to another node only
   * when the promise has resolved. Called exactly once for each bucket that was gained. Never rejects.
   */
  readonly losing: (buckets: ReadonlyArray<number>, why: "released" | "lost") => Promise<void>
}

/** The placement of buckets, as seen by one node. */
export interface Placement {
  /** The address of this node for other nodes, as `10.0.0.7:7700`. */
  readonly address: string
  /**
   * Resolves with the address of the bucket's home; `undefined` while it has none. The answer may be old: the node at the address
   * refuses a request for a bucket that it does not hold.
   */
  readonly homeOf: (bucket: number) => Promise<string | undefined>
  /** Makes the next `homeOf` of this bucket, and of all buckets of its home, look it up again. */
  readonly forget: (bucket: number) => void
  /**
   * Returns the lease of the bucket, if this node is its home. It lasts from the moment when `gained` has resolved until `losing`
   * has resolved, or until no renewal was confirmed for `leaseMs`.
   */
  readonly leaseOf: (bucket: number) => Lease | undefined
  /** The monotonic clock of `confirmedAt`, in milliseconds. */
  readonly now: () => number
  /** Resolves with the addresses of all nodes that are alive. */
  readonly nodes: () => Promise<ReadonlyArray<string>>
  /** Sets the one listener, which is called for the present leases too; the returned function removes it. */
  readonly subscribe: (listener: PlacementListener) => () => void
  /** Releases all buckets, as `losing` with `released`, and leaves the cluster. */
  readonly stop: () => Promise<void>
}
