/**
 * A cluster in memory that a test moves, freezes and partitions, on a virtual clock.
 *
 * Owns: the table of leases, the nodes, and which node is to take which shard. Does not own the time: the test advances the
 * clock. Calls the same leases as the placement on the engine.
 *
 * TESTC1. Time passes only through the test's clock. An unmoved shard belongs to the oldest living node that takes shards.
 * TESTC2. A frozen node does nothing, and its clock stands still for it: `leaseOf` answers as before the freeze. When it wakes,
 *         its clock is that of the cluster, and its due timers run.
 * TESTC3. A killed node makes no more calls. Its buckets move when its lease has expired.
 *
 * @module
 */
import type { Clock } from "@troupe/otp"
import { shardCount, shardOf, ClusterError, type Placement, type PlacementListener } from "../placement/index.ts"
import { leasedPlacement, type Leases, type LeaseTable } from "../lease/index.ts"
import { memoryLeases } from "./memoryLeases.ts"
import { NodeClock } from "./nodeClock.ts"

/** How often a node compares its shards with those that it is to have. */
const placingMs = 100

/** The options of a cluster in memory. */
export interface TestClusterOptions {
  /** The clock of the leases, such as a test clock. */
  readonly clock: Clock.Clock
  /** How long a node that does not renew its lease stays the home of its conversations, in milliseconds. Default: 5,000. */
  readonly leaseMs?: number | undefined
}

interface TestNode {
  readonly placement: Placement
  readonly clock: NodeClock
  readonly leases: Leases
  readonly table: LeaseTable
  isPartitioned: boolean
  isDead: boolean
}

/**
 * A cluster in memory.
 *
 * @example
 * ```ts
 * const clock = Clock.test()
 * const cluster = new TestCluster({ clock })
 * const a = await cluster.node("a:1")
 * const b = await cluster.node("b:1")
 * cluster.move(7, "b:1")
 * await clock.advance(1_000)
 * await a.homeOf(7) // "b:1"
 * ```
 */
export class TestCluster {
  /** How long a node that does not renew its lease stays the home of its buckets, in milliseconds. */
  readonly leaseMs: number
  readonly #clock: Clock.Clock
  readonly #table: LeaseTable
  readonly #nodes = new Map<string, TestNode>()
  /** The node that is to take a moved shard. */
  readonly #moved = new Map<number, string>()
  readonly #errors: Array<unknown> = []

  constructor({ clock, leaseMs = 5_000 }: TestClusterOptions) {
    this.leaseMs = leaseMs
    this.#clock = clock
    this.#table = memoryLeases({ now: () => clock.now(), leaseMs })
  }

  /** The failures of the nodes so far, such as those of a partition or of a listener. */
  get errors(): ReadonlyArray<unknown> {
    return [...this.#errors]
  }

  /** Starts a node. A `gateway` takes no buckets. A running node of this address loses its buckets to the new one. */
  async node(address: string, { role = "home" }: { readonly role?: "home" | "gateway" } = {}): Promise<Placement> {
    const clock = new NodeClock(this.#clock)
    const node = { clock, isPartitioned: false, isDead: false }
    const table = this.#tableOf(node)
    const { leases, placement } = leasedPlacement({
      table,
      clock,
      leaseMs: this.leaseMs,
      self: { address, takes: role === "home" },
      report: (error) => void this.#errors.push(error)
    })
    const ended = { isStopped: false }
    const made: TestNode = Object.assign(node, {
      leases,
      table,
      placement: {
        ...placement,
        leaseOf: (bucket: number) => (made.isDead ? undefined : placement.leaseOf(bucket)),
        subscribe: (listener: PlacementListener) => placement.subscribe(whileAlive(made, listener)),
        stop: async () => {
          ended.isStopped = true
          await leases.stop()
        }
      }
    })
    this.#nodes.set(address, made)
    await leases.join()
    if (role === "home") this.#place(address, made, ended)
    return made.placement
  }

  /** Moves a bucket, with its shard, to a node: its home releases it, and the node gains it. */
  move(bucket: number, to: string): void {
    this.#of(to)
    this.#moved.set(shardOf(bucket), to)
  }

  /** Stops all work of a node, as SIGSTOP does. */
  freeze(address: string): void {
    this.#of(address).clock.freeze()
  }

  /** Continues a frozen node, as SIGCONT does. */
  wake(address: string): void {
    this.#of(address).clock.wake()
  }

  /** Cuts a node off from the table. */
  partition(address: string): void {
    this.#of(address).isPartitioned = true
  }

  /** Ends the partition of a node. */
  heal(address: string): void {
    this.#of(address).isPartitioned = false
  }

  /** Ends a node without a word, as SIGKILL does. */
  kill(address: string): void {
    const node = this.#of(address)
    node.isDead = true
    node.clock.freeze()
  }

  #of(address: string): TestNode {
    const node = this.#nodes.get(address)
    if (node === undefined) throw new Error(`The cluster has no node ${address}; start it with node()`)
    return node
  }

  /** The node's way to the table. */
  #tableOf(node: Pick<TestNode, "isPartitioned" | "isDead">): LeaseTable {
    const table = this.#table
    const through = <Args extends ReadonlyArray<unknown>, A>(call: (...args: Args) => Promise<A>) => {
      return async (...args: Args): Promise<A> => {
        if (node.isPartitioned || node.isDead) throw new ClusterError("database_failed", "The node is cut off")
        return call(...args)
      }
    }
    return {
      join: through(table.join),
      renew: through(table.renew),
      retire: through(table.retire),
      leave: through(table.leave),
      acquire: through(table.acquire),
      keep: through(table.keep),
      members: through(table.members),
      homes: through(table.homes),
      close: async () => {}
    }
  }

  /** Lets the node release and acquire shards, until it stops. */
  #place(address: string, node: TestNode, ended: { readonly isStopped: boolean }): void {
    const again = (): void => {
      if (ended.isStopped) return
      this.#compare(address, node).catch((error: unknown) => this.#errors.push(error))
      node.clock.setBackgroundTimeout(again, placingMs)
    }
    again()
  }

  async #compare(address: string, { leases, table }: TestNode): Promise<void> {
    const living = (await table.members()).filter(({ takes }) => takes)
    const isHere = (shard: number): boolean => {
      const moved = this.#moved.get(shard)
      const home = living.some((member) => member.address === moved) ? moved : living[0]?.address
      return home === address
    }
    const [own, others] = [allShards.filter(isHere), leases.shards().filter((shard) => !isHere(shard))]
    await Promise.all([leases.acquire(own), leases.release(others)])
  }
}

const allShards = Array.from({ length: shardCount }, (_, shard) => shard)

/** A dead node calls no listener. */
const whileAlive = (node: { readonly isDead: boolean }, listener: PlacementListener): PlacementListener => ({
  gained: (buckets, epoch) => (node.isDead ? new Promise<never>(() => {}) : listener.gained(buckets, epoch)),
  losing: (buckets, why) => (node.isDead ? new Promise<never>(() => {}) : listener.losing(buckets, why))
})
