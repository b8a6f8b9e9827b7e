/**
 * The placement on the engine `effect/cluster`, with PostgreSQL.
 *
 * Owns: the engine's scope, the leases and the connections, from `start` to `stop`. Calls the engine for the choice of shards,
 * and the leases for everything else: the engine's own locks, messages, entities and calls between runners are not used.
 *
 * EFFPLACE1. When `stop` resolves, no timer, fiber or connection of the placement is left, and all buckets are released.
 * EFFPLACE2. When `start` rejects, nothing is left either.
 *
 * @module
 */
import { Clock } from "@troupe/otp"
import * as MessageStorage from "effect/cluster/MessageStorage"
import * as RunnerHealth from "effect/cluster/RunnerHealth"
import * as Runners from "effect/cluster/Runners"
import { RunnerStorage } from "effect/cluster/RunnerStorage"
import * as Sharding from "effect/cluster/Sharding"
import * as ShardingConfig from "effect/cluster/ShardingConfig"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import { protocol, shardCount, type Placement } from "../placement/index.ts"
import { type Leased, leasedPlacement, type Member } from "../lease/index.ts"
import { openPlacementDatabase, type PlacementDatabase } from "./placementDatabase.ts"
import { preparePlacement } from "./placementSchema.ts"
import { postgresLeases } from "./postgresLeases.ts"
import { runnerAddress, runnerStorage, shardGroup } from "./runnerStorage.ts"

/**
 * The options of a placement.
 *
 * - `url`: the PostgreSQL database, `postgres://user:password@host:5432/database`
 * - `address`: the address of this node for other nodes; each node has its own
 * - `role`: a `gateway` is the home of no bucket
 * - `report`: is called with each failure that the placement survives, such as a failed renewal
 *
 * **Units and defaults**: `schema` is the schema of the tables, `"troupe"`, which is created. `role` is `"home"`. `leaseMs` is
 * how long a node that does not renew its lease stays the home of its buckets, in milliseconds, 5,000. By default `report`
 * ignores failures.
 */
export interface EffectPlacementOptions {
  readonly url: string
  readonly address: string
  readonly schema?: string | undefined
  readonly role?: "home" | "gateway" | undefined
  readonly leaseMs?: number | undefined
  readonly report?: ((error: unknown) => void) | undefined
  /** The numbers of the protocol, which a test changes. */
  readonly protocol?: Readonly<Record<string, string>> | undefined
}

/**
 * Starts the placement of this node, and joins the cluster.
 *
 * **Errors**: rejects with a `ClusterError`: `protocol_mismatch`, `database_failed`.
 */
export const start = async (options: EffectPlacementOptions): Promise<Placement> => {
  const { url, address, schema = "troupe", role = "home", leaseMs = 5_000, report = () => {} } = options
  const clock = Clock.live
  const database = await openPlacementDatabase({ url, deadlineMs: leaseMs / 2, clock })
  const table = postgresLeases(database, { schema, leaseMs })
  const self: Member = { address, takes: role === "home" }
  const { leases, placement } = leasedPlacement({ table, clock, leaseMs, self, report })
  await prepared({ database, schema, numbers: options.protocol ?? protocol, leases })
  const scope = Scope.makeUnsafe()
  if (self.takes) {
    const storage = runnerStorage({ address, leases, members: () => table.members(), clock, report })
    await Effect.runPromise(Layer.buildWithScope(engine({ address, leaseMs, storage }), scope))
  }
  let stopping: Promise<void> | undefined
  const stop = async (): Promise<void> => {
    // Other nodes take over a shard as soon as it is released, so they are to see first that this one leaves.
    await leases.retire()
    await Effect.runPromise(Scope.close(scope, Exit.void))
    await leases.stop()
  }
  return {
    ...placement,
    stop: () => {
      stopping ??= stop()
      return stopping
    }
  }
}

/** EFFPLACE2 */
const prepared = async (options: {
  readonly database: PlacementDatabase
  readonly schema: string
  readonly numbers: Readonly<Record<string, string>>
  readonly leases: Leased["leases"]
}): Promise<void> => {
  const { database, schema, numbers, leases } = options
  try {
    await preparePlacement(database, { schema, numbers })
    await leases.join()
  } catch (error) {
    await database.close()
    throw error
  }
}

/** How often the engine reads the members, at least, and how many times within a lease. */
const longestPollMs = 200
const pollsPerLease = 10

/** The engine, which only chooses shards. Its times of locks do not matter, as the leases have their own. */
const engine = (options: {
  readonly address: string
  readonly leaseMs: number
  readonly storage: RunnerStorage["Service"]
}) => {
  const { address, leaseMs, storage } = options
  const poll = Math.min(longestPollMs, leaseMs / pollsPerLease)
  const config = ShardingConfig.layer({
    runnerAddress: Option.some(runnerAddress(address)),
    shardsPerGroup: shardCount,
    availableShardGroups: [shardGroup],
    assignedShardGroups: [shardGroup],
    shardLockRefreshInterval: "1 second",
    shardLockExpiration: "3 seconds",
    refreshAssignmentsInterval: poll,
    entityMessagePollInterval: poll,
    runnerHealthCheckInterval: "1 hour"
  })
  return Sharding.layer.pipe(
    Layer.provide(Runners.layerNoop),
    Layer.provide([MessageStorage.layerNoop, RunnerHealth.layerNoop, Layer.succeed(RunnerStorage, storage)]),
    Layer.provide([config, Logger.layer([])])
  )
}
