/**
 * Supervisors of several equal children, of which a key chooses one.
 *
 * Where one server would be asked by everybody, each partition takes a share of the keys: its mail, its state and its
 * crashes are apart from the others'.
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
import * as Hash from "effect/Hash"
import type { ChildSpec } from "./ChildSpec.ts"
import type { ExitReason } from "./ExitReason.ts"
import { cellOf } from "./internal/cell.ts"
import { Server } from "./internal/serverLoop.ts"
import { Supervising } from "./internal/supervising.ts"
import type { Timeout } from "./internal/timeout.ts"
import type { Name, Pid } from "./Pid.ts"
import * as Supervisor from "./Supervisor.ts"
import type { System } from "./System.ts"

/**
 * The start of one partition, and the rules for all.
 *
 * **Units and defaults**
 *
 * As of any `ChildSpec`. A partition is never temporary: its keys would lead nowhere.
 */
export interface PartitionSpec extends Pick<ChildSpec, "shutdown" | "type"> {
  readonly start: (parent: Pid, partition: number) => ReturnType<ChildSpec["start"]>
  readonly restart?: "permanent" | "transient"
}

/** What a partition supervisor runs: `partitions` children, numbered from 0; the rest as of any supervisor. */
export interface Options extends Omit<Supervisor.Options, "children" | "autoShutdown"> {
  readonly partitions: number
  readonly child: PartitionSpec
}

/** A partition: its process, `"restarting"` between two tries, or none. */
export interface PartitionInfo extends Omit<Supervisor.ChildInfo, "id"> {
  readonly partition: number
}

const planOf = ({ partitions, child, ...options }: Options): Supervisor.Options => {
  if (!Number.isInteger(partitions) || partitions < 1) {
    throw new RangeError(`${partitions} partitions make no sense: ask for 1 or more`)
  }
  const { start: begin, ...rules } = child
  const children = Array.from({ length: partitions }, (_, partition) => ({
    id: String(partition),
    start: (parent: Pid) => begin(parent, partition),
    ...rules
  }))
  return { label: options.name ?? "PartitionSupervisor", ...options, children }
}

/**
 * Starts a partition supervisor that nobody is linked to; resolves when its partitions are up.
 *
 * **Errors**
 *
 * Rejects as `Supervisor.start` does, and with a `RangeError` for less than one partition.
 */
export const start = async (system: System, options: Options): Promise<Pid> => Supervisor.start(system, planOf(options))

/** Starts a partition supervisor linked to its parent, as `start` does. */
export const startLink = async (parent: Pid, options: Options): Promise<Pid> =>
  Supervisor.startLink(parent, planOf(options))

/** Makes the spec of a partition supervisor that is the child of a supervisor. */
export const childSpec = (
  id: string,
  options: Options,
  rules?: Pick<ChildSpec, "restart" | "shutdown" | "significant">
): ChildSpec => ({
  id,
  type: "supervisor",
  start: (parent) => startLink(parent, { label: id, ...options }),
  ...rules
})

const entriesOf = (supervisor: Pid) => {
  const { behaviour } = cellOf(supervisor)
  if (behaviour instanceof Server && behaviour.state instanceof Supervising) return behaviour.state.children.all
  throw new TypeError(`${supervisor.label} ${supervisor} is no supervisor: pass what PartitionSupervisor.start gave`)
}

/** How many partitions there are. */
export const partitions = (supervisor: Pid): number => entriesOf(supervisor).length

/**
 * The partition of a key.
 *
 * **Details**
 *
 * An integer leads to the partition of its remainder. Any other key leads by its hash, the same for equal keys, to the
 * same partition as long as there are as many.
 */
export const partitionOf = (supervisor: Pid, key: unknown): number => {
  const place = typeof key === "number" && Number.isInteger(key) ? key : Hash.hash(key)
  return Math.abs(place) % partitions(supervisor)
}

/** The living process of the partition of a key. */
export const whereis = (supervisor: Pid, key: unknown): Pid<unknown> | undefined => {
  if (cellOf(supervisor).dead) return undefined
  const cell = entriesOf(supervisor)[partitionOf(supervisor, key)]?.cell
  return cell?.dead === false ? cell : undefined
}

/** Makes the address of the partition of a key, looked up when it is used. */
export const via = <M = unknown>(supervisor: Pid, key: unknown): Name<M> => {
  const name = `${supervisor.label}/${String(key)}`
  return { name, system: cellOf(supervisor).kernel, whereis: () => whereis(supervisor, key), toString: () => name }
}

/** The partitions, by number. */
export const whichChildren = async (supervisor: Pid): Promise<ReadonlyArray<PartitionInfo>> => {
  const infos = await Supervisor.whichChildren(supervisor)
  return infos.map(({ id, ...info }) => ({ partition: Number(id), ...info })).toReversed()
}

/** Counts partitions, and among them those running, supervisors and workers. */
export const countChildren = (supervisor: Pid): Promise<Supervisor.ChildCounts> => Supervisor.countChildren(supervisor)

/** Ends a partition supervisor and its partitions, in reverse start order; resolves when all are dead. */
export const stop = (supervisor: Pid, reason?: ExitReason, timeout?: Timeout): Promise<void> =>
  Supervisor.stop(supervisor, reason, timeout)
