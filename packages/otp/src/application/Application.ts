/**
 * Applications: supervision trees, started and stopped in order.
 *
 * An application is a name, its dependencies, and a function that starts its tree. A system runs any number of them:
 * `start` and `ensureAllStarted` start them after their dependencies, `stop` ends one, and the end of the system ends
 * them in reverse start order. `run` is the entry point of a program: it starts an application in a system, waits for a
 * signal of the host, and stops everything in order.
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
import { tableOf } from "./applicationTable.ts"
import { kernelOf } from "../kernel/index.ts"
import { runUntilEnd } from "./programRun.ts"
import { halt as haltKernel } from "../system/index.ts"
import type { System } from "../core/index.ts"
import type { Definition, Kind, Outcome, RunOptions } from "./definition.ts"

export type { Definition, Kind, Signals, End, Outcome, RunOptions } from "./definition.ts"

/** Makes the definition of an application. */
export const make = (definition: Definition): Definition => definition

/** How an application is started. */
export interface StartOptions {
  /** What the end of the application does to the program. Default: `"temporary"`, nothing. */
  readonly kind?: Kind
}

/**
 * Starts an application; resolves when its tree is up.
 *
 * **Errors**
 *
 * Rejects with `ApplicationAlreadyStarted`; with `ApplicationNotStarted` if a dependency does not run; with
 * `StartFailed`, whose reason is the reason of its tree.
 */
export const start = (system: System, application: Definition, options: StartOptions = {}): Promise<void> =>
  tableOf(kernelOf(system)).start(application, options.kind ?? "temporary")

/**
 * Starts an application after its dependencies; resolves with the names of the started applications, in start order.
 *
 * **Errors**
 *
 * Rejects like `start`, after it has stopped the applications that it started, in reverse order; with `ApplicationCycle`
 * if some depend on each other in a circle.
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
 * Its dependencies and the applications that depend on it keep running.
 *
 * **Errors**
 *
 * Rejects with `ApplicationNotStarted` if it does not run.
 */
export const stop = (system: System, application: Definition): Promise<void> =>
  tableOf(kernelOf(system)).stop(application.name)

/** The names of the running applications, in start order. */
export const running = (system: System): ReadonlyArray<string> => tableOf(kernelOf(system)).running

/**
 * Ends all processes of a system at once. It does not call `terminate`, `prepStop` or `stop`; finalizers run.
 *
 * **When to use**
 *
 * When an orderly end takes too long or is not needed; otherwise use `System.stop`.
 */
export const halt = (system: System): void => haltKernel(kernelOf(system))

/**
 * Runs a program: starts an application and its dependencies, waits for its end, and stops the system in order.
 *
 * **Details**
 *
 * A signal ends the program, and so does the end of an application that stops the system. All applications then end in
 * reverse start order, and so do the children of each. A second signal ends everything at once, with status 1. The host
 * is kept alive until then. All listeners are removed when this resolves.
 *
 * **Errors**
 *
 * Rejects like `ensureAllStarted`, after stopping the system.
 *
 * **Gotchas**
 *
 * It ends the system, not the host: `process.exitCode = (await Application.run(app, { signals: process })).status`.
 */
export const run = (application: Definition, options: RunOptions = {}): Promise<Outcome> =>
  runUntilEnd(application, options)
