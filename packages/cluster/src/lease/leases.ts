/**
 * The leases of this node: which shards it has, and which of them its listener has gained.
 *
 * Owns: the holds, one for each shard of this node. Does not own the membership's timers or the choice of the shards.
 * Calls the table of leases, the membership and the listener.
 *
 * LEASE1. A bucket has a lease only after `gained` has resolved, and until `losing` has resolved or the lease is over by the
 *         clock of this node.
 * LEASE2. For each `gained` that resolved, `losing` is called exactly once. A bucket is gained again only when its `losing`
 *         has resolved. A released shard is free for other nodes only when its `losing` has resolved. One shard does not wait for
 *         another.
 * LEASE4. When `gained` rejects, the shard is free again, without `losing`.
 * LEASE5. When the membership is over, all leases end at once, and `losing` is called with `lost`.
 * LEASE6. The table keeps no shard for this node that has no hold here: after an acquisition or a release with an unknown
 *         result, each renewal tries to free these shards.
 *
 * The membership ends while a shard is acquired:
 *   1. the table gives the shard to the former member.
 *   2. the answer finds another membership, or none. The shard gets no hold. The table frees it with the former member.
 */
import { bucketsOf, shardOf, type Lease, type PlacementListener } from "../placement/index.ts"
import type { Acquired, LeaseTable, Member } from "./leaseTable.ts"
import { type Membership, Memberships, type MembershipOptions } from "./membership.ts"

/** What the leases of a node need. */
export interface LeasesOptions extends Omit<MembershipOptions, "table" | "self" | "lost" | "renewed"> {
  /** Where the leases of all nodes are kept. */
  readonly table: LeaseTable
  /** This node. */
  readonly self: Member
}

/**
 * A shard of this node.
 *
 * - `unclaimed`: no listener has gained it
 * - `claiming`: `gained` is running
 * - `leased`: `gained` has resolved
 * - `ending`: it is to be released, or is lost
 */
interface Hold {
  readonly shard: number
  readonly epoch: number
  phase: "unclaimed" | "claiming" | "leased" | "ending"
  /** Whether `gained` resolved. */
  claimed: Promise<boolean> | undefined
  /** Its end, with `losing`. */
  end: Promise<void> | undefined
}

export class Leases {
  readonly #options: LeasesOptions
  readonly #memberships: Memberships
  readonly #holds = new Map<number, Hold>()
  #listener: PlacementListener | undefined
  /** Acquisitions and frees reach the table one after another. */
  #changes: Promise<unknown> = Promise.resolve()
  #freeing: Promise<void> | undefined
  #hasUnknown = false
  #isRetired = false
  #stopping: Promise<void> | undefined

  constructor(options: LeasesOptions) {
    this.#options = options
    this.#memberships = new Memberships({
      ...options,
      // A node that leaves gets no shards, also when it joins once more meanwhile.
      self: () => ({ ...options.self, takes: options.self.takes && !this.#isRetired }),
      lost: () => this.#lost(),
      renewed: () => {
        if (this.#hasUnknown) void this.#free()
      }
    })
  }

  /** Joins the cluster. */
  join(): Promise<void> {
    return this.#memberships.join()
  }

  /** LEASE1 */
  leaseOf(bucket: number): Lease | undefined {
    const hold = this.#holds.get(shardOf(bucket))
    const membership = this.#memberships.current
    if (hold === undefined || membership === undefined || !this.#memberships.isLive(membership)) return undefined
    if (hold.phase !== "leased" && !(hold.phase === "ending" && hold.claimed !== undefined)) return undefined
    return { epoch: hold.epoch, confirmedAt: membership.confirmedAt }
  }

  /** The shards of this node. */
  shards(): ReadonlyArray<number> {
    return [...this.#holds.keys()]
  }

  /** Sets the listener, and calls it for the present shards. */
  subscribe(listener: PlacementListener): () => void {
    if (this.#listener !== undefined) throw new Error("A placement has one listener; end the other subscription first")
    this.#listener = listener
    const byEpoch = Map.groupBy(this.#holds.values(), ({ epoch }) => epoch)
    for (const [epoch, holds] of byEpoch) {
      const present = holds.filter(({ phase }) => phase === "unclaimed" || phase === "leased")
      if (present.length > 0) this.#claim(present, epoch, listener)
    }
    return () => {
      if (this.#listener === listener) this.#listener = undefined
    }
  }

  /**
   * Acquires those of the shards that are free, and returns those that this node has. Shards whose release is running are not
   * among them. Acquires nothing more when it `isAbandoned` by its caller.
   */
  acquire(shards: ReadonlyArray<number>, isAbandoned: () => boolean = () => false): Promise<ReadonlyArray<number>> {
    return this.#inOrder(async () => {
      const membership = this.#memberships.current
      const missing = shards.filter((shard) => !this.#holds.has(shard))
      if (membership !== undefined && missing.length > 0 && !this.#isRetired && !isAbandoned()) {
        await this.#acquire(membership, missing, isAbandoned)
      }
      return shards.filter((shard) => {
        const hold = this.#holds.get(shard)
        return hold !== undefined && hold.phase !== "ending"
      })
    })
  }

  /** Releases the shards, and resolves when they are free. LEASE2 */
  async release(shards: ReadonlyArray<number>): Promise<void> {
    const holds = shards.flatMap((shard) => this.#holds.get(shard) ?? [])
    await Promise.all(holds.map((hold) => this.#end(hold)))
  }

  /** Takes no more shards; the other nodes are to take over those of this node, which it still has. */
  async retire(): Promise<void> {
    if (this.#isRetired) return
    this.#isRetired = true
    const membership = this.#memberships.current
    if (membership !== undefined) await this.#succeeds(() => this.#options.table.retire(membership.number))
  }

  /** Releases all shards, and leaves the cluster. Later calls return the same promise. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  async #stop(): Promise<void> {
    await this.retire()
    // An acquisition that has begun may still add holds.
    await this.#changes
    await this.release(this.shards())
    await this.#memberships.stop()
    await this.#options.table.close()
  }

  async #acquire(membership: Membership, missing: ReadonlyArray<number>, isAbandoned: () => boolean): Promise<void> {
    let acquired: Acquired
    try {
      acquired = await this.#options.table.acquire(membership.number, missing)
    } catch (error) {
      this.#options.report(error)
      this.#hasUnknown = true
      return
    }
    if (this.#memberships.current !== membership) return
    // LEASE6
    if (this.#isRetired || isAbandoned()) return void this.#free()
    const { epoch } = acquired
    const holds = acquired.shards.map((shard): Hold => ({
      shard,
      epoch,
      phase: "unclaimed",
      claimed: undefined,
      end: undefined
    }))
    for (const hold of holds) this.#holds.set(hold.shard, hold)
    if (this.#listener !== undefined && holds.length > 0) this.#claim(holds, epoch, this.#listener)
  }

  /** LEASE1, LEASE4 */
  #claim(holds: ReadonlyArray<Hold>, epoch: number, listener: PlacementListener): void {
    const claimed = this.#succeeds(() => listener.gained(bucketsOfAll(holds), epoch))
    for (const hold of holds) {
      hold.phase = "claiming"
      hold.claimed = claimed
    }
    void this.#settle(holds, claimed)
  }

  async #settle(holds: ReadonlyArray<Hold>, claimed: Promise<boolean>): Promise<void> {
    const isClaimed = await claimed
    const present = holds.filter(({ phase }) => phase === "claiming")
    for (const hold of present) {
      if (isClaimed) hold.phase = "leased"
      else this.#drop(hold)
    }
    if (!isClaimed && present.length > 0) void this.#free()
  }

  /** Ends one hold, once. LEASE2 */
  #end(hold: Hold): Promise<void> {
    hold.end ??= this.#ended(hold)
    return hold.end
  }

  async #ended(hold: Hold): Promise<void> {
    const { phase, claimed } = hold
    if (phase === "claiming") await claimed
    hold.phase = "ending"
    if (claimed !== undefined && (await claimed)) {
      const why = this.#holds.get(hold.shard) === hold ? "released" : "lost"
      await this.#succeeds(async () => this.#listener?.losing(bucketsOf(hold.shard), why))
    }
    this.#drop(hold)
    await this.#free()
  }

  /** LEASE5 */
  async #lost(): Promise<void> {
    const holds = [...this.#holds.values()]
    this.#holds.clear()
    const leased = holds.filter((hold) => hold.phase === "leased" && hold.end === undefined)
    const others = holds.filter((hold) => !leased.includes(hold))
    for (const hold of leased) hold.phase = "ending"
    const end =
      leased.length > 0
        ? this.#succeeds(async () => this.#listener?.losing(bucketsOfAll(leased), "lost"))
        : Promise.resolve(true)
    await Promise.all([end, ...others.map((hold) => this.#end(hold))])
  }

  #drop(hold: Hold): void {
    if (this.#holds.get(hold.shard) === hold) this.#holds.delete(hold.shard)
  }

  /** Frees all shards of this node in the table that have no hold. Calls that wait share one statement. LEASE6 */
  #free(): Promise<void> {
    this.#freeing ??= this.#inOrder(async () => {
      this.#freeing = undefined
      const membership = this.#memberships.current
      if (membership === undefined) return
      this.#hasUnknown = false
      const isFreed = await this.#succeeds(() => this.#options.table.keep(membership.number, this.shards()))
      if (!isFreed) this.#hasUnknown = true
    })
    return this.#freeing
  }

  #inOrder<A>(change: () => Promise<A>): Promise<A> {
    const changed = this.#changes.then(change)
    this.#changes = changed.catch(() => undefined)
    return changed
  }

  /** Whether it succeeds. Its failure is reported. */
  async #succeeds(call: () => Promise<void> | undefined): Promise<boolean> {
    try {
      await call()
      return true
    } catch (error) {
      this.#options.report(error)
      return false
    }
  }
}

const bucketsOfAll = (holds: ReadonlyArray<Hold>): ReadonlyArray<number> =>
  holds.flatMap(({ shard }) => bucketsOf(shard))
