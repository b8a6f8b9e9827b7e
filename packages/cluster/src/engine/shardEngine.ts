/** The engine `effect/cluster`: it chooses which node is to have which shard. */
import * as MessageStorage from "effect/cluster/MessageStorage"
import * as RunnerHealth from "effect/cluster/RunnerHealth"
import * as Runners from "effect/cluster/Runners"
import { RunnerStorage } from "effect/cluster/RunnerStorage"
import * as Sharding from "effect/cluster/Sharding"
import * as ShardingConfig from "effect/cluster/ShardingConfig"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import { shardCount } from "../placement/index.ts"
import { runnerAddress, shardGroup } from "./runnerStorage.ts"

/** How often the engine reads the members, at least, and how many times within a lease. */
const longestPollMs = 200
const pollsPerLease = 10

/** The parts that the engine needs. */
export interface EngineOptions {
  /** The address of this node for other nodes. */
  readonly address: string
  /** How long a runner stays the owner of its shards without a renewal, in milliseconds. */
  readonly leaseMs: number
  /** Where the runners and their locks are kept. */
  readonly storage: RunnerStorage["Service"]
}

/** The engine, which only chooses shards. Its times of locks do not matter, as the leases have their own. */
export const shardEngine = (options: EngineOptions) => {
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
