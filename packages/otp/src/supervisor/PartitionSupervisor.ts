/**
 * Supervisors of several equal children; a key selects one.
 *
 * They replace one server that all callers would use. Each partition serves a share of the keys; its messages, its state
 * and its crashes are separate from the others'.
 *
 * @example
 * ```ts import.meta.vitest
 * import { GenServer, PartitionSupervisor, System } from "@troupe/otp"
 *
 * const counter = GenServer.make({
 *   init: (from: number) => GenServer.ok(from),
 *   handleCall: (_request: "next", _from, state) => GenServer.replying(state + 1, state + 1)
 * })
 * const system = System.make()
 * const counters = await PartitionSupervisor.start(system, {
 *   partitions: 4,
 *   child: { start: (parent) => GenServer.startLink(parent, counter, 0) }
 * })
 * await GenServer.call(PartitionSupervisor.via(counters, 1), "next") // => 1
 * await GenServer.call(PartitionSupervisor.via(counters, 5), "next") // => 2
 * await System.stop(system)
 * ```
 *
 * **Source**
 *
 * Elixir's `PartitionSupervisor`.
 */
import {
  type ChildSpec,
  type ExitReason,
  hashOf,
  type MessageOf,
  type Name,
  type OfKind,
  type Pid,
  placeOf,
  type Rules,
  StartFailed,
  type System,
  type Timeout
} from "../core/index.ts"
import { checkCount } from "./optionRules.ts"
import { partition } from "./childRestarts.ts"
import { childAddress, partitionCount, partitionIn } from "./supervisorState.ts"
import type { ChildInfo } from "./supervisorServer.ts"
import * as Supervisor from "./Supervisor.ts"

declare const partition_: unique symbol

/** A partition supervisor whose partitions have pids of type `P`. */
export interface PartitionSupervisor<out P extends Pid = Pid> extends Pid, OfKind<"supervisor"> {
  readonly [partition_]?: P
}

/** A partition supervisor or the address of one, as `Supervisor.SupervisorTarget`. */
export type PartitionTarget<P extends Pid = Pid> = PartitionSupervisor<P> | Name<never, PartitionSupervisor<P>>

/**
 * The start function of the partitions, and their rules.
 *
 * **Units and defaults**
 *
 * As in `ChildSpec`. When a temporary partition has ended, its keys have no process; they do not move to another partition.
 */
export interface PartitionSpec<out P extends Pid = Pid> extends Pick<ChildSpec, "restart" | "shutdown" | "type"> {
  /** As in a child spec, with the number of the partition. */
  readonly start: (parent: Pid, partition: number) => ReturnType<ChildSpec<string, P>["start"]>
}

/** The options of a partition supervisor, and those of `Supervisor.Options`. */
export interface Options<out P extends Pid = Pid> extends Omit<Supervisor.Options, "children" | "autoShutdown"> {
  /** How many children there are, numbered from 0. */
  readonly partitions: number
  /** Starts the child of each partition, from its number. */
  readonly child: PartitionSpec<P>
}

/** A partition: its process, `"restarting"` between two attempts, or none. */
export interface PartitionInfo<out P extends Pid = Pid> extends Pick<Supervisor.ChildInfo, "type"> {
  /** The number of the partition, from 0. */
  readonly partition: number
  /** The process, or `"restarting"` between two attempts. */
  readonly pid: P | "restarting" | undefined
}

const planOf = ({ partitions, child, ...options }: Options): Supervisor.Options => {
  try {
    checkCount("partitions", partitions)
  } catch (reason) {
    throw new StartFailed({ reason })
  }
  const { start: begin, ...rules } = child
  const children = Array.from({ length: partitions }, (_, number) => ({
    id: String(number),
    [partition]: number,
    start: (parent: Pid) => begin(parent, number),
    ...rules
  }))
  return { label: options.name ?? options.via?.name ?? "PartitionSupervisor", ...options, children }
}

/**
 * Starts a partition supervisor without a link; resolves when its partitions are up.
 *
 * **Errors**
 *
 * Rejects like `Supervisor.start`, also for less than one partition.
 */
export const start = async <P extends Pid>(system: System, options: Options<P>): Promise<PartitionSupervisor<P>> =>
  Supervisor.start(system, planOf(options))

/** Starts a partition supervisor linked to its parent, like `start`. */
export const startLink = async <P extends Pid>(parent: Pid, options: Options<P>): Promise<PartitionSupervisor<P>> =>
  Supervisor.startLink(parent, planOf(options))

/** Makes the spec of a partition supervisor that is the child of a supervisor. */
export const childSpec = <const Id extends string, P extends Pid>(
  id: Id,
  options: Options<P>,
  rules?: Rules
): ChildSpec<Id, PartitionSupervisor<P>> => ({
  id,
  type: "supervisor",
  start: (parent) => startLink(parent, { label: id, ...options }),
  ...rules
})

/** The number of partitions. Throws `CallExit` (`noproc`) when the supervisor is dead, `NotASupervisor` for another supervisor. */
export const partitions = (supervisor: PartitionTarget): number => partitionCount(supervisor)

const partitionAmong = (key: unknown, count: number): number => {
  const place = typeof key === "number" && Number.isInteger(key) ? key : hashOf(placeOf(key))
  return Math.abs(place) % count
}

/**
 * The partition of a key.
 *
 * **Details**
 *
 * An integer selects a partition by its remainder. Any other key selects one by its hash, which is the same for equal
 * keys, and the same partition while their number does not change. Equality is that of `Registry` keys.
 */
export const partitionOf = (supervisor: PartitionTarget, key: unknown): number =>
  partitionAmong(key, partitions(supervisor))

/** The living process of the partition of a key; `undefined` also when the supervisor is dead. */
export const whereis = <P extends Pid = Pid<unknown>>(supervisor: PartitionTarget<P>, key: unknown): P | undefined =>
  partitionIn(supervisor, (count) => String(partitionAmong(key, count))) as P | undefined

/** Makes the address of the partition of a key, resolved at each use. */
export const via = <P extends Pid = Pid<unknown>>(
  supervisor: PartitionTarget<P>,
  key: unknown
): Name<MessageOf<NoInfer<P>>, NoInfer<P>> => childAddress(supervisor, String(key), () => whereis(supervisor, key))

/** The partitions, by number. */
export const whichChildren = async <P extends Pid = Pid>(
  supervisor: PartitionTarget<P>
): Promise<ReadonlyArray<PartitionInfo<P>>> => {
  const infos = (await Supervisor.whichChildren(supervisor)) as ReadonlyArray<ChildInfo<P>>
  return infos.map(({ id, ...info }) => ({ partition: Number(id), ...info })).toReversed()
}

/** Counts partitions, and among them the running ones, supervisors and workers. */
export const countChildren = (supervisor: PartitionTarget): Promise<Supervisor.ChildCounts> =>
  Supervisor.countChildren(supervisor)

/** Ends a partition supervisor and its partitions, in reverse start order; resolves when all are dead. */
export const stop = (supervisor: PartitionTarget, reason?: ExitReason, timeout?: Timeout): Promise<void> =>
  Supervisor.stop(supervisor, reason, timeout)
