/**
 * The membership of this node in its cluster.
 *
 * Owns: the number of the member, and the timers that renew its lease. Does not own the shards. Calls the table of leases.
 *
 * MEMBER1. The lease counts from the moment when the confirmed renewal began, on this node's monotonic clock. So it ends here
 *          before it ends in the table.
 * MEMBER2. When the lease ends, or the table has removed the member, the membership is over for good: `lost` is called
 *          exactly once. When it has resolved, the node joins again as a new member.
 * MEMBER3. A renewal that fails is tried again until the lease ends.
 * MEMBER5. A node that loses its lease reports that once (CLUSTER17).
 * MEMBER4. When `stop` resolves, no timer waits, and the member is removed unless the table does not answer.
 *
 * A node that was frozen, and wakes:
 *   1. the answer of a renewal from before the freeze arrives. It confirms the lease as of its beginning only.
 *   2. the lease is over by the clock: `isLive` is false at once, and the timer calls `lost`.
 */
import type { Clock } from "@troupe/otp"
import type { LeaseTable, Member } from "./leaseTable.ts"

/** A membership: an object of its own for each time that the node joins. */
export interface Membership {
  readonly number: number
  confirmedAt: number
}

/** What a membership needs. */
export interface MembershipOptions {
  /** Where the members are kept. */
  readonly table: Pick<LeaseTable, "join" | "renew" | "leave">
  /** The clock of renewals. */
  readonly clock: Clock.Clock
  /** How long the membership lasts without a renewal, in milliseconds. */
  readonly leaseMs: number
  /** Returns this node as it is now. */
  readonly self: () => Member
  /** Called when the membership is over. Never rejects. */
  readonly lost: () => Promise<void>
  /** Called after each confirmed renewal. */
  readonly renewed: () => void
  /** Called with each failure that the membership survives. */
  readonly report: (error: unknown) => void
}

/** How many renewals are tried within one lease. */
const renewalsPerLease = 4
const longestRetryMs = 200

/** The present and later memberships of one node. */
export class Memberships {
  readonly #options: MembershipOptions
  readonly #intervalMs: number
  #current: Membership | undefined
  #renewal: unknown
  #expiry: unknown
  #change: Promise<void> = Promise.resolve()
  #isStopped = false

  constructor(options: MembershipOptions) {
    this.#options = options
    this.#intervalMs = options.leaseMs / renewalsPerLease
  }

  /** The membership, while its lease is not known to be over. */
  get current(): Membership | undefined {
    return this.#current
  }

  /** Whether the lease holds by the clock. */
  isLive(membership: Membership): boolean {
    return this.#current === membership && this.#options.clock.now() < this.#endOf(membership)
  }

  /** Joins the cluster. */
  join(): Promise<void> {
    return this.#join(undefined)
  }

  /** Joins; after a former membership only if no other node has taken over the address. */
  async #join(former: number | undefined): Promise<void> {
    const { table, clock, self } = this.#options
    const confirmedAt = clock.now()
    const number = await table.join(self(), former)
    if (number === undefined) return this.#joinLater(former)
    if (this.#isStopped) return table.leave(number)
    const membership = { number, confirmedAt }
    this.#current = membership
    this.#renewAfter(this.#intervalMs, membership)
    this.#watch(membership)
  }

  /** MEMBER4 */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#clearTimers()
    await this.#change
    const membership = this.#current
    this.#current = undefined
    if (membership !== undefined) await this.#leave(membership)
  }

  #endOf({ confirmedAt }: Membership): number {
    return confirmedAt + this.#options.leaseMs
  }

  #after(ms: number, run: () => void): unknown {
    const { clock } = this.#options
    return clock.setBackgroundTimeout === undefined ? clock.setTimeout(run, ms) : clock.setBackgroundTimeout(run, ms)
  }

  #renewAfter(ms: number, membership: Membership): void {
    this.#options.clock.clearTimeout(this.#renewal)
    this.#renewal = this.#after(ms, () => void this.#renew(membership))
  }

  /** The next renewal does not wait for the answer of this one, as a lost connection may never answer. */
  async #renew(membership: Membership): Promise<void> {
    const { table, clock, report, renewed } = this.#options
    const began = clock.now()
    this.#renewAfter(this.#intervalMs, membership)
    try {
      const isMember = await table.renew(membership.number)
      if (this.#current !== membership || this.#isStopped) return
      if (!isMember) return this.#lose(membership)
      membership.confirmedAt = Math.max(membership.confirmedAt, began)
      renewed()
    } catch (error) {
      report(error)
      if (this.#current !== membership || this.#isStopped) return
      this.#renewAfter(Math.min(longestRetryMs, this.#intervalMs), membership)
    }
  }

  /** MEMBER2 */
  #watch(membership: Membership): void {
    const left = this.#endOf(membership) - this.#options.clock.now()
    this.#expiry = this.#after(left, () => {
      if (this.#current !== membership) return
      if (this.isLive(membership)) this.#watch(membership)
      else this.#lose(membership)
    })
  }

  #lose(membership: Membership): void {
    const { report, clock, leaseMs } = this.#options
    report(lostAfter(clock.now() - membership.confirmedAt, leaseMs))
    this.#current = undefined
    this.#clearTimers()
    this.#change = this.#leaveAndJoin(membership)
  }

  async #leaveAndJoin(membership: Membership): Promise<void> {
    await this.#options.lost()
    await this.#leave(membership)
    await this.#joinAgain(membership.number)
  }

  async #joinAgain(former: number | undefined): Promise<void> {
    if (this.#isStopped) return
    try {
      await this.#join(former)
    } catch (error) {
      this.#options.report(error)
      this.#joinLater(former)
    }
  }

  #joinLater(former: number | undefined): void {
    if (this.#isStopped) return
    this.#renewal = this.#after(longestRetryMs, () => {
      this.#change = this.#joinAgain(former)
    })
  }

  /** A member that the table could not remove is removed by another node when its lease has expired there. */
  async #leave({ number }: Membership): Promise<void> {
    try {
      await this.#options.table.leave(number)
    } catch (error) {
      this.#options.report(error)
    }
  }

  #clearTimers(): void {
    this.#options.clock.clearTimeout(this.#renewal)
    this.#options.clock.clearTimeout(this.#expiry)
  }
}

/** MEMBER5 */
const lostAfter = (ms: number, leaseMs: number): Error =>
  new Error(
    `This node has lost its lease of ${leaseMs} ms: its last renewal was ${Math.round(ms)} ms ago. Other nodes take over its conversations, and it joins again. Give it more processor time, a faster database, or a longer leaseMs`
  )
