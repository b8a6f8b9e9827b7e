/**
 * Supervisors: processes that keep other processes running.
 *
 * A supervisor starts its children in order, restarts them when they end, by the rules of their specs, and ends them in
 * reverse order when it ends. When its children end more often than it allows, it ends too, and its own supervisor
 * handles that.
 *
 * @example
 * ```ts import.meta.vitest
 * import { GenServer, Process, Supervisor, System } from "@troupe/otp"
 *
 * const counter = GenServer.make({
 *   init: () => GenServer.ok(0),
 *   handleCall: (_request: "next", _from, state) => GenServer.replying(state + 1, state + 1)
 * })
 * const system = System.make()
 * const supervisor = await Supervisor.start(system, {
 *   children: [{ id: "counter", start: (parent) => GenServer.startLink(parent, counter, undefined) }]
 * })
 * const address = Supervisor.via(supervisor, "counter")
 * await GenServer.call(address, "next") // => 1
 * await GenServer.call(address, "next") // => 2
 *
 * const first = Supervisor.child(supervisor, "counter")
 * if (first !== undefined) Process.kill(first)
 * await Supervisor.whichChildren(supervisor)
 * Supervisor.child(supervisor, "counter") === first // => false
 * await GenServer.call(address, "next") // => 1
 * await System.stop(system)
 * ```
 *
 * **Source**
 *
 * The OTP design principles, "Supervisor Behaviour"; Elixir's `Supervisor`.
 */
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import {
  type ChildSpec,
  type ExitReason,
  type MessageOf,
  type Name,
  type OfKind,
  type Pid,
  type PidOf,
  type Rules,
  type StartFailed,
  type StartIgnored,
  type System,
  type SystemStopped,
  type Timeout
} from "../core/index.ts"
import { type Cell, cellOf, type Kernel, kernelOf } from "../kernel/index.ts"
import { scopedServer, type ServerOptions, startServer, startServerEffect, type Via } from "../server/index.ts"
import type { AutoShutdown, Strategy } from "./childRestarts.ts"
import { request, stopSupervisor } from "./supervisorRequest.ts"
import { callbacks, namesOf } from "./supervisorServer.ts"
import type { ChildCounts, ChildInfo, Plan, Request } from "./supervisorServer.ts"
import { childAddress, childById } from "./supervisorState.ts"

declare const children_: unique symbol

/** Children by id, with the type of each one's pid. */
export type Children = Readonly<Record<string, Pid>>

/**
 * A supervisor with the types of its children.
 *
 * **Details**
 *
 * `C` maps the ids of its initial children to the types of their pids. A plain `Pid`, and a `Supervisor` without type
 * arguments, may have any children.
 */
export interface Supervisor<out C extends Children = Children> extends Pid, OfKind<"supervisor"> {
  readonly [children_]?: C
}

/**
 * A supervisor or the address of one: a registered name (`Process.named`), a key of a registry, or a key of a partition supervisor.
 */
export type SupervisorTarget<C extends Children = Children> = Supervisor<C> | Name<never, Supervisor<C>>

/** The children of a list of specs: one by one for literal ids, any children for other ids. */
export type ChildrenOf<Specs extends ReadonlyArray<ChildSpec>> = {
  readonly [Spec in Specs[number] as Spec["id"]]: PidOf<Spec>
}

/**
 * An id of a child: one that the supervisor was started with, or a `string` known only at run time, as for added
 * children. Any other literal does not compile.
 */
export type IdOf<C extends Children, Id extends string> = Id & (string extends Id ? string : keyof C)

export type { AutoShutdown, Strategy } from "./childRestarts.ts"
export type { ChildCounts, ChildInfo } from "./supervisorServer.ts"

/** The type of the pid of a child; any pid for an id known only at run time. */
export type ChildOf<C extends Children, Id extends string> = Id extends keyof C ? C[Id] : Pid<unknown>

export type { ChildSpec, ChildType, Restart, Rules, Shutdown } from "../core/index.ts"

/** The options of a supervisor. */
export interface Options<Specs extends ReadonlyArray<ChildSpec> = ReadonlyArray<ChildSpec>> {
  /**
   * Which children are restarted when one has to be: `"oneForOne"`: that child; `"oneForAll"`: all, after the others were ended
   * in reverse order; `"restForOne"`: that child and those after it in start order. Default: `"oneForOne"`.
   */
  readonly strategy?: Strategy
  /** The children, in start order. They are ended in reverse order. */
  readonly children: Specs
  /** The number of restarts that `maxSeconds` may have. Default: 3. The next one ends the supervisor with `shutdown`. */
  readonly maxRestarts?: number
  /** The seconds in which restarts are counted. Default: 5. */
  readonly maxSeconds?: number
  /**
   * Whether the supervisor ends when significant children ended by themselves: `"never"`, `"anySignificant"` (with the first),
   * `"allSignificant"` (with the last). Default: `"never"`.
   */
  readonly autoShutdown?: AutoShutdown
  /** Registers the supervisor in its system. Default: the supervisor has no name. */
  readonly name?: string
  /** Registers the supervisor in a registry. Default: in none. */
  readonly via?: Via
  /** The displayed name. Default: `name`, else `Supervisor`. */
  readonly label?: string
}

const planned = (options: Options): readonly [plan: Plan, how: ServerOptions] => {
  const plan: Plan = {
    strategy: options.strategy ?? "oneForOne",
    children: options.children,
    maxRestarts: options.maxRestarts ?? 3,
    maxSeconds: options.maxSeconds ?? 5,
    autoShutdown: options.autoShutdown ?? "never"
  }
  return [plan, namesOf(options, "Supervisor")]
}

const launch = (kernel: Kernel, parent: Cell | undefined, options: Options): Promise<Pid> =>
  startServer(kernel, parent, callbacks, ...planned(options))

/**
 * Starts a supervisor without a link; resolves when its children are up.
 *
 * **Errors**
 *
 * Rejects with `StartFailed` when a child does not start, after ending the started ones; the reason is then a `Shutdown`
 * with a `FailedToStartChild`. The reason is `ChildRefused` for specs that contradict each other, and `InvalidOption` for
 * invalid options and specs. Rejects with `SystemStopped` in a stopped system.
 */
export const start = <const Specs extends ReadonlyArray<ChildSpec>>(
  system: System,
  options: Options<Specs>
): Promise<Supervisor<ChildrenOf<Specs>>> => launch(kernelOf(system), undefined, options)

/** Starts a supervisor linked to its parent, like `start`. When the parent ends, it ends its children and then itself. */
export const startLink = <const Specs extends ReadonlyArray<ChildSpec>>(
  parent: Pid,
  options: Options<Specs>
): Promise<Supervisor<ChildrenOf<Specs>>> => launch(cellOf(parent).kernel, cellOf(parent), options)

/** Starts a supervisor, like `start`; interrupting the effect kills it and the children that are up. */
export const startEffect = <const Specs extends ReadonlyArray<ChildSpec>>(
  system: System,
  options: Options<Specs>
): Effect.Effect<Supervisor<ChildrenOf<Specs>>, StartFailed | StartIgnored | SystemStopped> =>
  startServerEffect(kernelOf(system), callbacks, ...planned(options))

/**
 * Starts a supervisor and its children in the system of the context, for the lifetime of the scope.
 *
 * **When to use**
 *
 * When effects own the tree: `Layer.effect(Tag, Supervisor.scoped(options))` is a layer with the supervisor as a service.
 *
 * **Details**
 *
 * When the scope closes, it ends its children and itself. After 10 seconds of the host's time it is killed.
 */
export const scoped = <const Specs extends ReadonlyArray<ChildSpec>>(
  options: Options<Specs>
): Effect.Effect<Supervisor<ChildrenOf<Specs>>, StartFailed | StartIgnored | SystemStopped, System | Scope.Scope> =>
  scopedServer((kernel) => startServerEffect(kernel, callbacks, ...planned(options)), 10_000)

/** Makes the spec of a supervisor that is the child of another. */
export const childSpec = <const Id extends string, const Specs extends ReadonlyArray<ChildSpec>>(
  id: Id,
  options: Options<Specs>,
  rules?: Rules
): ChildSpec<Id, Supervisor<ChildrenOf<Specs>>> => ({
  id,
  type: "supervisor",
  start: (parent) => startLink(parent, { label: id, ...options }),
  ...rules
})

const alter = <A>(supervisor: SupervisorTarget, message: Request): Promise<A> =>
  request(supervisor, message, "Supervisor")

const ask = <A>(supervisor: SupervisorTarget, message: Request): Promise<A> => request(supervisor, message)

/**
 * The living process of a child, by its id; `undefined` while it is not running.
 *
 * **Gotchas**
 *
 * A restart makes a new process: store the address from `via`, not the pid.
 */
export const child = <C extends Children = Children, const Id extends string = string>(
  supervisor: SupervisorTarget<C>,
  id: IdOf<C, Id>
): ChildOf<C, Id> | undefined => childById(supervisor, id) as ChildOf<C, Id> | undefined

/**
 * Makes the address of a child, resolved at each use: it stays valid after restarts.
 *
 * **Gotchas**
 *
 * Until the child is restarted, a call of the address rejects with `CallExit` (`noproc`).
 */
export const via = <C extends Children = Children, const Id extends string = string>(
  supervisor: SupervisorTarget<C>,
  id: IdOf<C, Id>
): Name<MessageOf<ChildOf<C, Id>>, ChildOf<C, Id>> => childAddress(supervisor, id, () => child(supervisor, id))

/** The children, youngest first. */
export const whichChildren = (supervisor: SupervisorTarget): Promise<ReadonlyArray<ChildInfo>> =>
  ask(supervisor, { _tag: "which" })

/** Counts specs, running children, supervisors and workers. */
export const countChildren = (supervisor: SupervisorTarget): Promise<ChildCounts> => ask(supervisor, { _tag: "count" })

/**
 * Adds a child, as the last in start order, and starts it; resolves with its process, or `undefined` if its start was
 * ignored.
 *
 * **Errors**
 *
 * Rejects with `ChildRefused` (`alreadyStarted`, `alreadyPresent`, `significantUnheeded`, `significantPermanent`), with
 * `InvalidOption` for an invalid spec, with `StartFailed`, or with `NotASupervisor`; the child is then not kept.
 */
export const startChild = <P extends Pid>(
  supervisor: SupervisorTarget,
  spec: ChildSpec<string, P>
): Promise<P | undefined> => alter(supervisor, { _tag: "start", spec })

/** Ends a child and keeps its spec, unless it is temporary. Rejects with `ChildRefused` (`notFound`). */
export const terminateChild = <C extends Children = Children, const Id extends string = string>(
  supervisor: SupervisorTarget<C>,
  id: IdOf<C, Id>
): Promise<void> => alter(supervisor, { _tag: "terminate", id })

/**
 * Restarts a stopped child.
 *
 * **Errors**
 *
 * Rejects with `ChildRefused` (`notFound`, `running`, `restarting`), or with `StartFailed`.
 */
export const restartChild = <C extends Children = Children, const Id extends string = string>(
  supervisor: SupervisorTarget<C>,
  id: IdOf<C, Id>
): Promise<ChildOf<C, Id> | undefined> => alter(supervisor, { _tag: "restart", id })

/** Removes a stopped child. Rejects with `ChildRefused` (`notFound`, `running`, `restarting`). */
export const deleteChild = <C extends Children = Children, const Id extends string = string>(
  supervisor: SupervisorTarget<C>,
  id: IdOf<C, Id>
): Promise<void> => alter(supervisor, { _tag: "delete", id })

/** Ends a supervisor and its children, in reverse start order; resolves when all are dead. */
export const stop = (
  supervisor: SupervisorTarget,
  reason: ExitReason = "normal",
  timeout: Timeout = "infinity"
): Promise<void> => stopSupervisor(supervisor, reason, timeout, "Supervisor.stop")
