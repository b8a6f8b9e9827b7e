/**
 * The start and the stop of a placement on PostgreSQL.
 *
 * Owns: the engine's scope, the leases and the connections, from `start` to `stop`. Calls the engine for the choice of shards,
 * and the leases for everything else: the engine's own locks, messages, entities and calls between runners are not used.
 *
 * EFFPLACE1. When `stop` resolves, no timer, fiber or connection of the placement is left, and all buckets are released.
 * EFFPLACE2. When `start` rejects, nothing is left either.
 */
import { Clock } from "@troupe/otp"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { type Member, leasedPlacement } from "../lease/index.ts"
import { type Placement, protocol } from "../placement/index.ts"
import { openPlacementDatabase } from "./placementDatabase.ts"
import { preparePlacement } from "./placementSchema.ts"
import { postgresLeases } from "./postgresLeases.ts"
import { runnerStorage } from "./runnerStorage.ts"
import type { EngineOptions } from "./shardEngine.ts"

/** Where a placement keeps its leases, and how this node takes part. */
export interface EffectPlacementOptions {
  /** The PostgreSQL database, `postgres://user:password@host:5432/database`. */
  readonly url: string
  /** The address of this node for other nodes; each node has its own. */
  readonly address: string
  /** The schema of the tables, which is created. Default: `"troupe"`. */
  readonly schema?: string | undefined
  /** A `"gateway"` is the home of no bucket. Default: `"home"`. */
  readonly role?: "home" | "gateway" | undefined
  /** How long a node that does not renew its lease stays the home of its buckets, in milliseconds. Default: 5,000. */
  readonly leaseMs?: number | undefined
  /** Called with each failure that the placement survives, such as a failed renewal. Default: they are ignored. */
  readonly report?: ((error: unknown) => void) | undefined
  /** The numbers of the protocol, which a test changes. */
  readonly protocol?: Readonly<Record<string, string>> | undefined
}

/** Starts it. The layer of the engine runs until `stop`. */
export const startPlacement = async (
  options: EffectPlacementOptions,
  engine: (options: EngineOptions) => Layer.Layer<never, unknown>
): Promise<Placement> => {
  const { url, address, schema = "troupe", role = "home", leaseMs = 5_000, report = () => {} } = options
  const clock = Clock.live
  const database = await openPlacementDatabase({ url, deadlineMs: leaseMs / 2, clock })
  const table = postgresLeases(database, { schema, leaseMs })
  const self: Member = { address, takes: role === "home" }
  const { leases, placement } = leasedPlacement({ table, clock, leaseMs, self, report })
  const scope = Scope.makeUnsafe()
  const stop = async (): Promise<void> => {
    try {
      // Other nodes take over a shard as soon as it is released, so they are to see first that this one leaves.
      await leases.retire()
      await Effect.runPromise(Scope.close(scope, Exit.void))
    } finally {
      await leases.stop()
    }
  }
  try {
    await preparePlacement(database, { schema, numbers: options.protocol ?? protocol })
    await leases.join()
    if (self.takes) {
      const storage = runnerStorage({ address, leases, members: () => table.members(), clock, report })
      await Effect.runPromise(Layer.buildWithScope(engine({ address, leaseMs, storage }), scope))
    }
  } catch (error) {
    await stop().catch(report)
    throw error
  }
  let stopping: Promise<void> | undefined
  return { ...placement, stop: () => (stopping ??= stop()) }
}
