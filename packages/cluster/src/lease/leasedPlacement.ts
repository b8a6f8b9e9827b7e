/** A placement over the leases of a node. */
import { shardOf, type Placement } from "../placement/index.ts"
import { HomeCache } from "./homeCache.ts"
import { Leases, type LeasesOptions } from "./leases.ts"

/** The leases of a node, and its placement without `stop`. */
export interface Leased {
  readonly leases: Leases
  readonly placement: Omit<Placement, "stop">
}

/** Makes it; the node joins later. */
export const leasedPlacement = (options: LeasesOptions): Leased => {
  const { table, clock, self } = options
  const leases = new Leases(options)
  const homes = new HomeCache(() => table.homes())
  return {
    leases,
    placement: {
      address: self.address,
      homeOf: async (bucket) => (leases.leaseOf(bucket) === undefined ? homes.homeOf(shardOf(bucket)) : self.address),
      forget: (bucket) => homes.forget(shardOf(bucket)),
      leaseOf: (bucket) => leases.leaseOf(bucket),
      now: () => clock.now(),
      nodes: async () => (await table.members()).map(({ address }) => address),
      subscribe: (listener) => leases.subscribe(listener)
    }
  }
}
