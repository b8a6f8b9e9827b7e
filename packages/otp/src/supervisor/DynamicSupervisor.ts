/**
 * Supervisors of a varying number of children.
 *
 * A dynamic supervisor starts without children. They are identified by their process, take constant time each, and are
 * removed when they end and are not restarted.
 *
 * **Source**
 *
 * Elixir's `DynamicSupervisor`.
 */
import {
  type ChildSpec,
  type ExitReason,
  type Name,
  type OfKind,
  type Pid,
  type Rules,
  type System,
  type Timeout
} from "../core/index.ts"
import { type Cell, cellOf, type Kernel, kernelOf } from "../kernel/index.ts"
import { dynamicCallbacks } from "./dynamicServer.ts"
import type { DynamicPlan, DynamicRequest } from "./dynamicServer.ts"
import { startServer, type Via } from "../server/index.ts"
import type { SupervisorTarget } from "./Supervisor.ts"
import { request, stopSupervisor } from "./supervisorRequest.ts"
import { type ChildCounts, type ChildInfo, namesOf } from "./supervisorServer.ts"

declare const child_: unique symbol
declare const extra_: unique symbol

/**
 * A dynamic supervisor whose children have pids of type `P`, and are started with its extra arguments `Extra`.
 *
 * **Details**
 *
 * The type arguments of `start` set its types: `DynamicSupervisor.start<Session>(system)`, or with `extraArguments`
 * `DynamicSupervisor.start<Session, [Settings]>(system, options)`. Without type arguments it accepts any children, like a
 * plain `Pid`, and infers `Extra` from the options.
 */
export interface DynamicSupervisor<in out P extends Pid = Pid, out Extra extends ReadonlyArray<unknown> = []>
  extends Pid, OfKind<"supervisor"> {
  readonly [child_]?: (child: P) => P
  readonly [extra_]?: Extra | undefined
}

/** A dynamic supervisor or the address of one, as `Supervisor.SupervisorTarget`. */
export type DynamicTarget<P extends Pid = Pid, Extra extends ReadonlyArray<unknown> = ReadonlyArray<unknown>> =
  | DynamicSupervisor<P, Extra>
  | Name<never, DynamicSupervisor<P, Extra>>

export type { ChildInfo } from "./supervisorServer.ts"

/** The start of a child of a dynamic supervisor, and the rules for it. */
export interface DynamicChildSpec<out P extends Pid = Pid, in Extra extends ReadonlyArray<unknown> = []> extends Omit<
  ChildSpec,
  "id" | "significant" | "start"
> {
  /** The id in `whichChildren` and reports. Default: `"undefined"`. */
  readonly id?: string
  /** As in a child spec; the `extraArguments` of the supervisor follow `parent`. */
  readonly start: (parent: Pid, ...extra: Extra) => ReturnType<ChildSpec<string, P>["start"]>
}

/** The options of a dynamic supervisor. */
export interface Options<Extra extends ReadonlyArray<unknown> = ReadonlyArray<unknown>> {
  /**
   * The restarts of all children together that `maxSeconds` may have. Default: 3. The next one ends the supervisor with
   * `shutdown`.
   */
  readonly maxRestarts?: number
  /** The seconds in which restarts are counted. Default: 5. */
  readonly maxSeconds?: number
  /** The maximum number of children; another start fails with `ChildRefused`. Default: without a limit. */
  readonly maxChildren?: number
  /** Passed to the `start` of every child, after `parent`, also at restarts. Default: none. */
  readonly extraArguments?: readonly [...Extra]
  /** Registers the supervisor in its system. Default: the supervisor has no name. */
  readonly name?: string
  /** Registers the supervisor in a registry. Default: in none. */
  readonly via?: Via
  /** The displayed name. Default: `name`, else `DynamicSupervisor`. */
  readonly label?: string
}

const launch = (kernel: Kernel, parent: Cell | undefined, options: Options = {}): Promise<Pid> => {
  const plan: DynamicPlan = {
    maxRestarts: options.maxRestarts ?? 3,
    maxSeconds: options.maxSeconds ?? 5,
    maxChildren: options.maxChildren ?? Number.POSITIVE_INFINITY,
    extraArguments: options.extraArguments ?? []
  }
  return startServer(kernel, parent, dynamicCallbacks, plan, namesOf(options, "DynamicSupervisor"))
}

/** Starts a dynamic supervisor without a link. */
export const start = <P extends Pid = Pid, Extra extends ReadonlyArray<unknown> = []>(
  system: System,
  options?: Options<Extra>
): Promise<DynamicSupervisor<P, Extra>> => launch(kernelOf(system), undefined, options)

/** Starts a dynamic supervisor linked to its parent. When the parent ends, it ends its children and then itself. */
export const startLink = <P extends Pid = Pid, Extra extends ReadonlyArray<unknown> = []>(
  parent: Pid,
  options?: Options<Extra>
): Promise<DynamicSupervisor<P, Extra>> => launch(cellOf(parent).kernel, cellOf(parent), options)

/** Makes the spec of a dynamic supervisor that is the child of a supervisor. */
export const childSpec = <const Id extends string, P extends Pid = Pid, Extra extends ReadonlyArray<unknown> = []>(
  id: Id,
  options?: Options<Extra>,
  rules?: Rules
): ChildSpec<Id, DynamicSupervisor<P, Extra>> => ({
  id,
  type: "supervisor",
  start: (parent) => startLink<P, Extra>(parent, { label: id, ...options }),
  ...rules
})

/** Like `NoInfer`, for rest parameters: the supervisor determines the arguments, not the spec. */
type NoInferEach<Extra extends ReadonlyArray<unknown>> = Extra extends infer E extends ReadonlyArray<unknown>
  ? E
  : never

const alter = <A>(supervisor: SupervisorTarget, message: DynamicRequest): Promise<A> =>
  request(supervisor, message, "DynamicSupervisor")

const ask = <A>(supervisor: SupervisorTarget, message: DynamicRequest): Promise<A> => request(supervisor, message)

/**
 * Starts a child.
 *
 * **Errors**
 *
 * Rejects with `ChildRefused` (`maxChildren`), `InvalidOption` for an invalid spec, `StartFailed`, or `StartIgnored` if
 * the child's start was ignored; the child is then not kept.
 *
 * **Gotchas**
 *
 * A plain pid has no type for the `extraArguments` of its supervisor. Annotate it then:
 * `const rooms: DynamicSupervisor.DynamicSupervisor<Room, [Settings]> = pid`.
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
 * await Agent.get(room, (seats) => seats) // => 40
 * await System.stop(system)
 * ```
 */
export const startChild = <P extends Pid, Child extends P, Extra extends ReadonlyArray<unknown> = []>(
  supervisor: DynamicTarget<P, Extra>,
  spec: DynamicChildSpec<Child, NoInferEach<Extra>>
): Promise<Child> => alter(supervisor, { _tag: "start", spec })

/** Ends a child, also one that is being restarted, and removes it. Rejects with `ChildRefused` (`notFound`). */
export const terminateChild = (supervisor: SupervisorTarget, child: Pid): Promise<void> =>
  alter(supervisor, { _tag: "terminate", pid: child })

/** The children, in start order. */
export const whichChildren = <P extends Pid = Pid>(
  supervisor: DynamicTarget<P>
): Promise<ReadonlyArray<ChildInfo<P>>> => ask(supervisor, { _tag: "which" })

/** Counts specs, running children, supervisors and workers. */
export const countChildren = (supervisor: SupervisorTarget): Promise<ChildCounts> => ask(supervisor, { _tag: "count" })

/** Ends a dynamic supervisor and its children; resolves when all are dead. */
export const stop = (
  supervisor: SupervisorTarget,
  reason: ExitReason = "normal",
  timeout: Timeout = "infinity"
): Promise<void> => stopSupervisor(supervisor, reason, timeout, "DynamicSupervisor.stop")
