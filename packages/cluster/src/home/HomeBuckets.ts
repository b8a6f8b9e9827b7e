/**
 * The buckets whose home this node is, and the fences of their writes.
 *
 * Owns: which buckets are open for requests, and the epoch of each. Does not own the leases, which the placement has, nor
 * the chats, which it asks its caller to end.
 *
 * CLUSTER1. Every write of a conversation names the epoch of its bucket, which was claimed when the bucket was gained. An
 *           older epoch is refused for good.
 * CLUSTER4. A handler starts only while the lease was confirmed less than `leaseMs`, less a margin, ago.
 * CLUSTER5. Before a bucket is released, its chats have left: their drafts are stored and their processes have ended.
 *
 * A bucket is released while a request opens one of its chats:
 *   1. the request finds the bucket open, and asks the Troupe for the chat.
 *   2. the bucket is closed: later requests are not answered here.
 *   3. the chats of the bucket are ended, also those that are being started.
 *   4. the fence is dropped: a chat that is started after this is refused by the Troupe.
 *   5. the chats that were started between 3 and 4 are ended.
 */
import type { TroupeOptions } from "@troupe/chat"
import { Store } from "@troupe/chat/store"
import type { Clock } from "@troupe/otp"
import type { Placement, PlacementListener } from "../placement/index.ts"

/** The functions that the buckets of a node need. */
export interface HomeParts {
  readonly placement: Pick<Placement, "leaseOf" | "now">
  readonly clock: Clock.Clock
  readonly leaseMs: number
  /** Claims the epoch of these keys in the store. */
  readonly claim: (keys: ReadonlyArray<string>, epoch: number) => Promise<void>
  /** Starts what ran in these buckets; called when they are open. */
  readonly revive: (buckets: ReadonlySet<number>) => void
  /** Ends the chats of these buckets, and resolves when they have left. A chat of a bucket that was lost has another home already. */
  readonly leave: (buckets: ReadonlyArray<number>, why: "released" | "lost") => Promise<void>
}

/** The part of a lease that is left unused, against the difference of clocks and a slow event loop. */
const margin = 0.2

/** How often a bucket whose lease is not known yet is looked at. */
const lookMs = 5

export class HomeBuckets implements PlacementListener, NonNullable<TroupeOptions["home"]> {
  readonly #parts: HomeParts
  readonly #epochs = new Map<number, number>()
  readonly #open = new Set<number>()

  constructor(parts: HomeParts) {
    this.#parts = parts
  }

  /** How many buckets are open. */
  get size(): number {
    return this.#open.size
  }

  /** The highest epoch of the open buckets; 0 without any. */
  get epoch(): number {
    let highest = 0
    for (const bucket of this.#open) highest = Math.max(highest, this.#epochs.get(bucket) ?? 0)
    return highest
  }

  /** Whether requests for this bucket are answered here. */
  holds(bucket: number): boolean {
    return this.#open.has(bucket) && this.#parts.placement.leaseOf(bucket) !== undefined
  }

  /** Resolves with whether requests for this bucket are answered here, once its lease is known. */
  async ready(bucket: number): Promise<boolean> {
    const { clock } = this.#parts
    while (this.#open.has(bucket) && !this.holds(bucket)) {
      await new Promise<void>((resolve) => void clock.setTimeout(resolve, lookMs))
    }
    return this.#open.has(bucket)
  }

  readonly isHome = (id: string): boolean => this.holds(Store.bucketOf(id))

  readonly fenceOf = (id: string): Store.Fence | undefined => {
    const bucket = Store.bucketOf(id)
    const epoch = this.#epochs.get(bucket)
    return epoch === undefined ? undefined : { key: keyOf(bucket), epoch }
  }

  /** CLUSTER4 */
  readonly mayAct = (id: string): boolean => {
    const { placement, leaseMs } = this.#parts
    const lease = placement.leaseOf(Store.bucketOf(id))
    return lease !== undefined && placement.now() - lease.confirmedAt < leaseMs * (1 - margin)
  }

  readonly gained = async (buckets: ReadonlyArray<number>, epoch: number): Promise<void> => {
    await this.#parts.claim(buckets.map(keyOf).toSorted(), epoch)
    for (const bucket of buckets) {
      this.#epochs.set(bucket, epoch)
      this.#open.add(bucket)
    }
    this.#parts.revive(new Set(buckets))
  }

  readonly losing = async (buckets: ReadonlyArray<number>, why: "released" | "lost"): Promise<void> => {
    for (const bucket of buckets) {
      this.#open.delete(bucket)
      if (why === "lost") this.#epochs.delete(bucket)
    }
    await this.#parts.leave(buckets, why)
    if (why === "lost") return
    for (const bucket of buckets) this.#epochs.delete(bucket)
    await this.#parts.leave(buckets, why)
  }
}

const keyOf = (bucket: number): string => `bucket:${bucket}`
