/**
 * Supervisors: processes that keep other processes running.
 *
 * A supervisor starts its children in order, starts them again when they end, by the rules of their specs, and ends them
 * in reverse order when it ends itself. When its children end more often than it allows, it ends too, and leaves the
 * decision to its own supervisor.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Process, Supervisor, System } from "@troupe/otp"
 *
 * const system = System.make()
 * const worker = () => new Promise(() => {})
 * const supervisor = await Supervisor.start(system, {
 *   children: [{ id: "worker", start: (parent) => Process.spawnLink(parent, worker, { name: "worker" }) }]
 * })
 * const first = Process.whereis(system, "worker")
 * if (first !== undefined) Process.kill(first)
 * const [child] = await Supervisor.whichChildren(supervisor)
 * child?.pid === first // => false
 * child?.pid === Process.whereis(system, "worker") // => true
 * await System.stop(system)
 * ```
 *
 * **Source**
 *
 * The OTP design principles, "Supervisor Behaviour"; Elixir's `Supervisor`.
 */
import type { ChildSpec } from "./ChildSpec.ts"
import type { ExitReason } from "./ExitReason.ts"
import { cellOf } from "./internal/cell.ts"
import type { Cell } from "./internal/cell.ts"
import { kernelOf } from "./internal/kernel.ts"
import type { Kernel } from "./internal/kernel.ts"
import { startServer } from "./internal/startServer.ts"
import { stopServer } from "./internal/stopServer.ts"
import type * as Supervising from "./internal/supervising.ts"
import { request } from "./internal/supervisorRequest.ts"
import { callbacks } from "./internal/supervisorServer.ts"
import type * as Server from "./internal/supervisorServer.ts"
import { milliseconds } from "./internal/timeout.ts"
import type { Timeout } from "./internal/timeout.ts"
import type { Pid } from "./Pid.ts"
import type { System } from "./System.ts"

/** Who is started again when a child has to be, see `Options`. */
export type Strategy = Supervising.Strategy

/** Whether the end of significant children ends the supervisor, see `Options`. */
export type AutoShutdown = Supervising.AutoShutdown

/** A child: its process, `"restarting"` between two tries, or none. */
export type ChildInfo = Server.ChildInfo

/** How many children a supervisor has: specs, and among them those running, supervisors and workers. */
export type ChildCounts = Server.ChildCounts

export type { ChildSpec, ChildType, Restart, Shutdown } from "./ChildSpec.ts"

/**
 * What a supervisor does.
 *
 * **Details**
 *
 * `strategy` says who is started again when a child has to be:
 *
 * - `"oneForOne"`: that child.
 * - `"oneForAll"`: all of them; the others are ended first, in reverse order.
 * - `"restForOne"`: that child and those after it.
 *
 * `autoShutdown` says when the end of significant children, by themselves, ends the supervisor: `"never"`,
 * `"anySignificant"`, `"allSignificant"`.
 *
 * **Units and defaults**
 *
 * At most `maxRestarts`, 3, restarts within `maxSeconds`, 5; the next one ends the supervisor with `shutdown`.
 * `strategy` is `"oneForOne"`, `autoShutdown` `"never"`, `label` the name, else `Supervisor`.
 */
export interface Options {
  readonly strategy?: Strategy
  readonly children: ReadonlyArray<ChildSpec>
  readonly maxRestarts?: number
  readonly maxSeconds?: number
  readonly autoShutdown?: AutoShutdown
  readonly name?: string
  readonly label?: string
}

const launch = (kernel: Kernel, parent: Cell | undefined, options: Options): Promise<Pid> => {
  const plan: Server.Plan = {
    strategy: options.strategy ?? "oneForOne",
    children: options.children,
    maxRestarts: options.maxRestarts ?? 3,
    maxSeconds: options.maxSeconds ?? 5,
    autoShutdown: options.autoShutdown ?? "never"
  }
  const label = options.label ?? options.name ?? "Supervisor"
  const name = options.name === undefined ? {} : { name: options.name }
  return startServer(kernel, parent, callbacks, plan, { ...name, label, trapExit: true })
}

/**
 * Starts a supervisor that nobody is linked to; resolves when its children are up.
 *
 * **Errors**
 *
 * Rejects with `StartFailed` when a child does not start, after ending those that did; its reason is then a `Shutdown`
 * with a `FailedToStartChild`. Specs that contradict each other are refused with `ChildRefused` as the reason.
 */
export const start = (system: System, options: Options): Promise<Pid> => launch(kernelOf(system), undefined, options)

/** Starts a supervisor linked to its parent, as `start` does. When the parent ends it ends its children and then itself. */
export const startLink = (parent: Pid, options: Options): Promise<Pid> =>
  launch(cellOf(parent).kernel, cellOf(parent), options)

/** Makes the spec of a supervisor that is the child of another. */
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

const ask = <A>(supervisor: Pid, message: Server.Request): Promise<A> => request(supervisor, message)

/** The children, the youngest first. */
export const whichChildren = (supervisor: Pid): Promise<ReadonlyArray<ChildInfo>> => ask(supervisor, { _tag: "which" })

/** Counts specs, running children, supervisors and workers. */
export const countChildren = (supervisor: Pid): Promise<ChildCounts> => ask(supervisor, { _tag: "count" })

/**
 * Adds a child, as the last in start order, and starts it; resolves with its process, or `undefined` if it chose not to
 * run.
 *
 * **Errors**
 *
 * Rejects with `ChildRefused` (`alreadyStarted`, `alreadyPresent`, `significantUnheeded`, `significantPermanent`), or
 * with `StartFailed`; nothing is kept then.
 */
export const startChild = (supervisor: Pid, spec: ChildSpec): Promise<Pid<unknown> | undefined> =>
  ask(supervisor, { _tag: "start", spec })

/** Ends a child and keeps its spec, unless it is temporary. Rejects with `ChildRefused` (`notFound`). */
export const terminateChild = (supervisor: Pid, id: string): Promise<void> => ask(supervisor, { _tag: "terminate", id })

/**
 * Starts a stopped child again.
 *
 * **Errors**
 *
 * Rejects with `ChildRefused` (`notFound`, `running`, `restarting`), or with `StartFailed`.
 */
export const restartChild = (supervisor: Pid, id: string): Promise<Pid<unknown> | undefined> =>
  ask(supervisor, { _tag: "restart", id })

/** Forgets a stopped child. Rejects with `ChildRefused` (`notFound`, `running`, `restarting`). */
export const deleteChild = (supervisor: Pid, id: string): Promise<void> => ask(supervisor, { _tag: "delete", id })

/** Ends a supervisor and its children, in reverse start order; resolves when all are dead. */
export const stop = (supervisor: Pid, reason: ExitReason = "normal", timeout: Timeout = "infinity"): Promise<void> =>
  stopServer(cellOf(supervisor), reason, milliseconds(timeout), "Supervisor.stop")
