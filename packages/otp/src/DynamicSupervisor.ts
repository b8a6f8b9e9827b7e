/**
 * Supervisors of children that come and go, any number of them.
 *
 * A dynamic supervisor starts empty. Its children are known by their process, cost the same however many there are, and
 * are forgotten when they end and are not started again.
 *
 * **Source**
 *
 * Elixir's `DynamicSupervisor`.
 */
import type { ChildSpec } from "./ChildSpec.ts"
import type { ExitReason } from "./ExitReason.ts"
import { cellOf } from "./internal/cell.ts"
import type { Cell } from "./internal/cell.ts"
import { dynamicCallbacks } from "./internal/dynamicServer.ts"
import type { DynamicPlan, DynamicRequest } from "./internal/dynamicServer.ts"
import { kernelOf } from "./internal/kernel.ts"
import type { Kernel } from "./internal/kernel.ts"
import { startServer } from "./internal/startServer.ts"
import { stopServer } from "./internal/stopServer.ts"
import { request } from "./internal/supervisorRequest.ts"
import type { ChildCounts, ChildInfo } from "./internal/supervisorServer.ts"
import { milliseconds } from "./internal/timeout.ts"
import type { Timeout } from "./internal/timeout.ts"
import type { Pid } from "./Pid.ts"
import type { System } from "./System.ts"

declare const extra_: unique symbol

/** A dynamic supervisor whose children are started with arguments `Extra` of its own. */
export interface DynamicSupervisor<out Extra extends ReadonlyArray<unknown> = []> extends Pid {
  readonly [extra_]?: Extra | undefined
}

/**
 * The spec of a dynamic child: as any other, but it needs no id, and its `start` gets the supervisor's `extraArguments`.
 */
export interface DynamicChildSpec<Extra extends ReadonlyArray<unknown> = []> extends Omit<
  ChildSpec,
  "id" | "significant" | "start"
> {
  readonly id?: string
  readonly start: (parent: Pid, ...extra: Extra) => ReturnType<ChildSpec["start"]>
}

/**
 * What a dynamic supervisor allows, and gives its children.
 *
 * **Details**
 *
 * `extraArguments` are handed to the `start` of every child, after `parent`, at its restarts too.
 *
 * **Units and defaults**
 *
 * At most `maxRestarts`, 3, restarts of all its children together within `maxSeconds`, 5; any number of children unless
 * `maxChildren` says otherwise. `label` is the name, else `DynamicSupervisor`.
 */
export interface Options<Extra extends ReadonlyArray<unknown> = ReadonlyArray<unknown>> {
  readonly maxRestarts?: number
  readonly maxSeconds?: number
  readonly maxChildren?: number
  readonly extraArguments?: readonly [...Extra]
  readonly name?: string
  readonly label?: string
}

const launch = (kernel: Kernel, parent: Cell | undefined, options: Options = {}): Promise<Pid> => {
  const plan: DynamicPlan = {
    maxRestarts: options.maxRestarts ?? 3,
    maxSeconds: options.maxSeconds ?? 5,
    maxChildren: options.maxChildren ?? Number.POSITIVE_INFINITY,
    extraArguments: options.extraArguments ?? []
  }
  const label = options.label ?? options.name ?? "DynamicSupervisor"
  const name = options.name === undefined ? {} : { name: options.name }
  return startServer(kernel, parent, dynamicCallbacks, plan, { ...name, label, trapExit: true })
}

/** Starts a dynamic supervisor that nobody is linked to. */
export const start = <Extra extends ReadonlyArray<unknown> = []>(
  system: System,
  options?: Options<Extra>
): Promise<DynamicSupervisor<Extra>> => launch(kernelOf(system), undefined, options)

/** Starts a dynamic supervisor linked to its parent. When the parent ends it ends its children and then itself. */
export const startLink = <Extra extends ReadonlyArray<unknown> = []>(
  parent: Pid,
  options?: Options<Extra>
): Promise<DynamicSupervisor<Extra>> => launch(cellOf(parent).kernel, cellOf(parent), options)

/** Makes the spec of a dynamic supervisor that is the child of a supervisor. */
export const childSpec = (
  id: string,
  options?: Options,
  rules?: Pick<ChildSpec, "restart" | "shutdown" | "significant">
): ChildSpec => ({
  id,
  type: "supervisor",
  start: (parent) => startLink(parent, { label: id, ...options }),
  ...rules
})

const ask = <A>(supervisor: Pid, message: DynamicRequest): Promise<A> => request(supervisor, message)

/**
 * Starts a child.
 *
 * **Errors**
 *
 * Rejects with `ChildRefused` (`maxChildren`), `StartFailed`, or `StartIgnored` if it chose not to run; nothing is kept
 * then.
 *
 * **Gotchas**
 *
 * A plain pid does not tell the `extraArguments` of its supervisor: where it is not what `start` gave, name their types,
 * `startChild<[Settings]>(pid, spec)`.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Agent, DynamicSupervisor, System } from "@troupe/otp"
 *
 * const system = System.make()
 * const rooms = await DynamicSupervisor.start(system, { extraArguments: [{ seats: 40 }] })
 * const room = await DynamicSupervisor.startChild(rooms, {
 *   start: (parent, { seats }) => Agent.startLink(parent, () => seats)
 * })
 * await Agent.get(room as Agent.Agent<number>, (seats) => seats) // => 40
 * await System.stop(system)
 * ```
 */
export const startChild = <Extra extends ReadonlyArray<unknown> = []>(
  supervisor: DynamicSupervisor<Extra>,
  spec: NoInfer<DynamicChildSpec<Extra>>
): Promise<Pid<unknown>> => ask(supervisor, { _tag: "start", spec: { id: "undefined", ...spec } })

/** Ends a child and forgets it. Rejects with `ChildRefused` (`notFound`). */
export const terminateChild = (supervisor: Pid, child: Pid): Promise<void> =>
  ask(supervisor, { _tag: "terminate", cell: cellOf(child) })

/** The children, in start order. */
export const whichChildren = (supervisor: Pid): Promise<ReadonlyArray<ChildInfo>> => ask(supervisor, { _tag: "which" })

/** Counts specs, running children, supervisors and workers. */
export const countChildren = (supervisor: Pid): Promise<ChildCounts> => ask(supervisor, { _tag: "count" })

/** Ends a dynamic supervisor and its children; resolves when all are dead. */
export const stop = (supervisor: Pid, reason: ExitReason = "normal", timeout: Timeout = "infinity"): Promise<void> =>
  stopServer(cellOf(supervisor), reason, milliseconds(timeout), "DynamicSupervisor.stop")
