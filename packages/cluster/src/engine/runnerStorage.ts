/**
 * The storage that the engine sees: its runners are the members of the cluster, its shard locks the leases of this node.
 *
 * Owns: nothing. Calls the leases. The engine decides which node is to have which shard. It does not time the leases.
 *
 * ENGINE1. `refresh` is answered from the leases here, without a statement, so that a slow database does not make the engine
 *          release everything at once.
 * ENGINE2. When the engine has abandoned an acquisition, the shards that it brought are released.
 * ENGINE3. This node is always among the runners, as the engine registers in a busy loop otherwise.
 */
import type { Clock } from "@troupe/otp"
import * as MachineId from "effect/cluster/MachineId"
import * as Runner from "effect/cluster/Runner"
import * as RunnerAddress from "effect/cluster/RunnerAddress"
import * as RunnerStorage from "effect/cluster/RunnerStorage"
import * as ShardId from "effect/cluster/ShardId"
import * as Effect from "effect/Effect"
import type { Leases, Member } from "../lease/index.ts"

/** The group of all shards, for the engine. */
export const shardGroup = "default"

/** How the engine names a node. Its port is not used. */
export const runnerAddress = (address: string): RunnerAddress.RunnerAddress => RunnerAddress.make(address, 0)

/** How long an acquisition waits for shards that another node is releasing, and how often it asks. */
const acquiringMs = 400
const askingMs = 40

/** Makes the storage. */
export const runnerStorage = (options: {
  readonly address: string
  readonly leases: Leases
  readonly members: () => Promise<ReadonlyArray<Member>>
  readonly clock: Clock.Clock
  readonly report: (error: unknown) => void
}): RunnerStorage.RunnerStorage["Service"] => {
  const { address, leases, members, clock, report } = options
  let known: ReadonlyArray<string> = []

  const runners = async (): Promise<Array<readonly [Runner.Runner, boolean]>> => {
    try {
      known = (await members()).filter(({ takes }) => takes).map((member) => member.address)
    } catch (error) {
      report(error)
    }
    return [...new Set([...known, address])].map((name) => [runnerOf(name), true] as const)
  }

  const acquire = async (shards: ReadonlyArray<number>, { aborted }: { readonly aborted: () => boolean }) => {
    const before = new Set(leases.shards())
    const end = clock.now() + acquiringMs
    let acquired = await leases.acquire(shards, aborted)
    while (acquired.length < shards.length && clock.now() < end && !aborted()) {
      await new Promise<void>((resolve) => void clock.setTimeout(resolve, askingMs))
      acquired = await leases.acquire(shards, aborted)
    }
    if (aborted()) void leases.release(acquired.filter((shard) => !before.has(shard)))
    return acquired
  }

  return RunnerStorage.RunnerStorage.of({
    register: () => Effect.succeed(MachineId.make(1)),
    unregister: () => Effect.promise(() => leases.retire()),
    getRunners: Effect.promise(runners),
    setRunnerHealth: () => Effect.void,
    acquire: (_, shards) =>
      Effect.promise((signal) => acquire(Array.from(shards, numberOf), { aborted: () => signal.aborted })).pipe(
        Effect.map((acquired) => acquired.map(shardIdOf))
      ),
    refresh: (_, shards) =>
      Effect.sync(() => {
        const own = new Set(leases.shards())
        return Array.from(shards).filter((shard) => own.has(numberOf(shard)))
      }),
    release: (_, shard) => Effect.promise(() => leases.release([numberOf(shard)])),
    releaseAll: () => Effect.promise(() => leases.release(leases.shards()))
  })
}

const runnerOf = (address: string): Runner.Runner =>
  Runner.make({ address: runnerAddress(address), groups: [shardGroup], weight: 1 })

/** The engine counts shards from 1. */
const numberOf = ({ id }: ShardId.ShardId): number => id - 1
const shardIdOf = (shard: number): ShardId.ShardId => ShardId.make(shardGroup, shard + 1)
