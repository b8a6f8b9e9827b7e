/**
 * Applications: whole supervision trees, started and stopped in order.
 *
 * An application is a name, what it depends on, and a function that starts its tree. A system runs any number of them:
 * `start` and `ensureAllStarted` start them after what they depend on, `stop` ends one, and the end of the system ends
 * them in reverse start order. `run` is the entry of a program: it starts an application in a system, waits for a signal
 * of the host, and stops everything in order.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Application, Process, Supervisor, System } from "@troupe/otp"
 *
 * const worker = () => new Promise(() => {})
 * const store = Application.make({
 *   name: "store",
 *   start: (parent) =>
 *     Supervisor.startLink(parent, { children: [{ id: "disk", start: (up) => Process.spawnLink(up, worker) }] })
 * })
 * const shop = Application.make({
 *   name: "shop",
 *   dependsOn: [store],
 *   start: (parent) => Supervisor.startLink(parent, { children: [] })
 * })
 * const system = System.make()
 * await Application.ensureAllStarted(system, shop) // => ["store", "shop"]
 * await Application.stop(system, shop)
 * Application.running(system) // => ["store"]
 * await System.stop(system)
 * ```
 *
 * **Source**
 *
 * The OTP design principles, "Applications"; Elixir's `Application`.
 */
import type { ExitReason } from "../core/ExitReason.ts"
import { tableOf } from "./applicationTable.ts"
import { kernelOf } from "../kernel/kernel.ts"
import { runUntilEnd } from "./programRun.ts"
import { halt as haltKernel } from "../system/systemShutdown.ts"
import type { Timeout } from "../core/timeout.ts"
import type { Pid } from "../core/Pid.ts"
import type { System } from "../system/System.ts"

/**
 * What an application is.
 *
 * **Contract**
 *
 * - `start` starts the tree under `parent`, linked to it, and answers with its top process, a supervisor as a rule; what
 *   it throws is why the application does not start.
 * - `prepStop` is called before the tree ends, `stop` after; both also where the tree ended by itself. What they throw is
 *   reported, and the end goes on.
 */
export interface Definition {
  readonly name: string
  /** The applications that must run before this one starts. */
  readonly dependsOn?: ReadonlyArray<Definition>
  start(parent: Pid): Pid | Promise<Pid>
  prepStop?(): unknown
  stop?(): unknown
}

/** Makes the definition of an application. */
export const make = (definition: Definition): Definition => definition

/**
 * What the end of an application by itself means to others.
 *
 * **Details**
 *
 * - `"temporary"`: nothing.
 * - `"transient"`: if it ended with any other reason than `normal`, the system is stopped.
 * - `"permanent"`: however it ended, the system is stopped.
 */
export type Kind = "temporary" | "transient" | "permanent"

/** How an application is started: `kind` is `"temporary"` unless said otherwise. */
export interface StartOptions {
  readonly kind?: Kind
}

/**
 * Starts an application; resolves when its tree is up.
 *
 * **Errors**
 *
 * Rejects with `ApplicationAlreadyStarted`; with `ApplicationNotStarted` if something it depends on does not run; with
 * `StartFailed`, whose reason is why its tree did not start.
 */
export const start = (system: System, application: Definition, options: StartOptions = {}): Promise<void> =>
  tableOf(kernelOf(system)).start(application, options.kind ?? "temporary")

/**
 * Starts an application after all it depends on; resolves with the names of those it started, in start order.
 *
 * **Errors**
 *
 * Rejects as `start` does, after stopping again those it started, in reverse order; with `ApplicationCycle` if some depend on
 * each other in a circle.
 */
export const ensureAllStarted = (
  system: System,
  application: Definition,
  options: StartOptions = {}
): Promise<ReadonlyArray<string>> => tableOf(kernelOf(system)).startAll(application, options.kind ?? "temporary")

/**
 * Stops an application: `prepStop`, its children in reverse start order with `shutdown`, `stop`.
 *
 * **Details**
 *
 * Neither what it depends on nor what depends on it is stopped.
 *
 * **Errors**
 *
 * Rejects with `ApplicationNotStarted` if it does not run.
 */
export const stop = (system: System, application: Definition): Promise<void> =>
  tableOf(kernelOf(system)).stop(application.name)

/** The names of the applications that run, in start order. */
export const running = (system: System): ReadonlyArray<string> => tableOf(kernelOf(system)).running

/**
 * Ends all processes of a system at once: no `terminate`, `prepStop` or `stop` is called, finalizers run.
 *
 * **When to use**
 *
 * Where an orderly end is not wanted, or does not come: `System.stop` is the orderly one.
 */
export const halt = (system: System): void => haltKernel(kernelOf(system))

/**
 * Where the signals of a host come from; Node's `process` is one.
 *
 * **Contract**
 *
 * After `on`, `listener` is called whenever the signal comes, until `off` with the same function.
 */
export interface Signals {
  on(signal: string, listener: () => void): unknown
  off(signal: string, listener: () => void): unknown
}

/**
 * Why a program ended.
 *
 * **Details**
 *
 * - `Signal`: the host asked it to.
 * - `ApplicationEnded`: an application it does not go on without ended by itself, with this reason.
 * - `Stopped`: somebody stopped the application, or the system.
 */
export type End =
  | { readonly _tag: "Signal"; readonly signal: string }
  | { readonly _tag: "ApplicationEnded"; readonly name: string; readonly reason: ExitReason }
  | { readonly _tag: "Stopped" }

/** How a program ended: why, and the exit status to give the host: 0 if it was asked to end, or its application ended
 * `normal`, and all ended in order. */
export interface Outcome {
  readonly status: 0 | 1
  readonly end: End
}

/**
 * How a program is run.
 *
 * **Units and defaults**
 *
 * - `system`: one of its own.
 * - `signals`: none; with Node's `process` the signals `names` end the program, `SIGINT` and `SIGTERM`.
 * - `kind`: `"permanent"`, for the application and for what it depends on.
 * - `timeout`: 10 seconds, as in `System.stop`.
 */
export interface RunOptions {
  readonly system?: System
  readonly signals?: Signals
  readonly names?: ReadonlyArray<string>
  readonly kind?: Kind
  readonly timeout?: Timeout
}

/**
 * Runs a program: starts an application and what it depends on, waits for its end, and stops the system in order.
 *
 * **Details**
 *
 * The end is a signal, or that of an application the system does not go on without. All applications then end in reverse
 * start order, the children of each in reverse start order. A signal during that ends everything at once, with status 1. The
 * host is kept alive meanwhile, and all listeners are gone when this resolves.
 *
 * **Errors**
 *
 * Rejects as `ensureAllStarted` does, after stopping the system.
 *
 * **Gotchas**
 *
 * It ends the system, not the host: `process.exitCode = (await Application.run(app, { signals: process })).status`.
 */
export const run = (application: Definition, options: RunOptions = {}): Promise<Outcome> =>
  runUntilEnd(application, options)
