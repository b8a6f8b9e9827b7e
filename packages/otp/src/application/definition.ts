/** An application, and the program that runs it. */

import type { ExitReason, Pid, System, Timeout } from "../core/index.ts"

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
