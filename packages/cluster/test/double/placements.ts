/** A placement in memory whose buckets a test moves at once, in real time. */
import type { Lease, Placement, PlacementListener } from "../../src/placement/Placement.ts"
import { bucketCount } from "../../src/placement/bucket.ts"
import { Store } from "@troupe/chat/store"

interface Member {
  readonly address: string
  readonly isGateway: boolean
  listener: PlacementListener | undefined
  readonly leases: Map<number, number>
  /** The homes that this node remembers. */
  readonly cache: Map<number, string>
}

export class Placements {
  readonly #homes = new Map<number, string>()
  readonly #members = new Map<string, Member>()
  /** The addresses of homes that a test replaced, such as that of a frozen node. */
  readonly remembered = new Map<string, string>()
  #epoch = 0
  /** How often the home of a bucket that has none was looked up. */
  inVain = 0

  /** The placement of a node. The first home gets all buckets. */
  readonly join =
    (role: "home" | "gateway" = "home") =>
    async (address: string): Promise<Placement> => {
      const member: Member = {
        address,
        isGateway: role === "gateway",
        listener: undefined,
        leases: new Map(),
        cache: new Map()
      }
      this.#members.set(address, member)
      return {
        address,
        homeOf: async (bucket) => {
          const known = member.cache.get(bucket) ?? this.#homes.get(bucket)
          if (known === undefined) this.inVain++
          else member.cache.set(bucket, known)
          return known
        },
        forget: (bucket) => void member.cache.delete(bucket),
        leaseOf: (bucket): Lease | undefined => {
          const epoch = member.leases.get(bucket)
          return epoch === undefined ? undefined : { epoch, confirmedAt: performance.now() }
        },
        now: () => performance.now(),
        nodes: async () => [...this.#members.keys()],
        subscribe: (listener) => {
          member.listener = listener
          if (role === "home" && this.#homes.size === 0) void this.#give(all, address)
          return () => void (member.listener = undefined)
        },
        stop: async () => {
          const next = [...this.#members.values()].find((other) => other !== member && !other.isGateway)
          await this.#take([...member.leases.keys()], member)
          this.#members.delete(address)
          if (next !== undefined && member.leases.size === 0) await this.#give(this.#free(), next.address)
        }
      }
    }

  /** Makes a node remember an address as the home of a conversation. */
  remember(node: string, id: string, home: string): void {
    this.#members.get(node)?.cache.set(Store.bucketOf(id), home)
  }

  /** Moves the bucket of a conversation; resolves when the new home has it. */
  async move(id: string, to: string): Promise<void> {
    const bucket = Store.bucketOf(id)
    const from = this.#members.get(this.#homes.get(bucket) ?? "")
    if (from !== undefined) await this.#take([bucket], from)
    await this.#give([bucket], to)
  }

  /** Gives the buckets of a node that is gone to another one. */
  async inherit(gone: string, to: string): Promise<void> {
    const buckets = [...this.#homes].flatMap(([bucket, address]) => (address === gone ? [bucket] : []))
    this.#members.delete(gone)
    await this.#give(buckets, to)
  }

  #free(): ReadonlyArray<number> {
    return all.filter((bucket) => !this.#homes.has(bucket))
  }

  async #take(buckets: ReadonlyArray<number>, from: Member): Promise<void> {
    await from.listener?.losing(buckets, "released")
    for (const bucket of buckets) {
      from.leases.delete(bucket)
      this.#homes.delete(bucket)
    }
  }

  async #give(buckets: ReadonlyArray<number>, to: string): Promise<void> {
    const member = this.#members.get(to)
    if (member === undefined) return
    const epoch = ++this.#epoch
    await member.listener?.gained(buckets, epoch)
    for (const bucket of buckets) {
      member.leases.set(bucket, epoch)
      this.#homes.set(bucket, to)
    }
  }
}

const all = Array.from({ length: bucketCount }, (_, bucket) => bucket)
