/** An application, and the program that runs it. */

import type { ExitReason, Pid, System, Timeout } from "../core/index.ts"

/**
 * The definition of an application.
 *
 * **Contract**
 *
 * - `start` starts the tree under `parent`, linked to it, and returns its top process, usually a supervisor. If it throws,
 *   the application does not start.
 * - `prepStop` is called before the tree ends and `stop` after it, also if the tree ended by itself. Their errors are
 *   reported, and the tree still ends.
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
 * The effect on the system when an application ends by itself.
 *
 * **Details**
 *
 * - `"temporary"`: nothing.
 * - `"transient"`: if the reason is not `normal`, the system is stopped.
 * - `"permanent"`: whatever the reason, the system is stopped.
 */
export type Kind = "temporary" | "transient" | "permanent"

/**
 * The source of host signals, such as Node's `process`.
 *
 * **Contract**
 *
 * After `on`, `listener` is called for every such signal, until `off` is called with the same function.
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
 * - `Signal`: the host sent a signal.
 * - `ApplicationEnded`: an application whose end stops the system ended by itself, with this reason.
 * - `Stopped`: the application or the system was stopped.
 */
export type End =
  | { readonly _tag: "Signal"; readonly signal: string }
  | { readonly _tag: "ApplicationEnded"; readonly name: string; readonly reason: ExitReason }
  | { readonly _tag: "Stopped" }

/** The end of a program and the exit status for the host: 0 if it was asked to end, or its application ended
 * `normal`, and everything ended in order. */
export interface Outcome {
  readonly status: 0 | 1
  readonly end: End
}

/**
 * How a program is run.
 *
 * **Units and defaults**
 *
 * - `system`: a new one.
 * - `signals`: none; with Node's `process`, the signals in `names` (`SIGINT` and `SIGTERM`) end the program.
 * - `kind`: `"permanent"`, for the application and its dependencies.
 * - `timeout`: 10 seconds, like `System.stop`.
 */
export interface RunOptions {
  readonly system?: System
  readonly signals?: Signals
  readonly names?: ReadonlyArray<string>
  readonly kind?: Kind
  readonly timeout?: Timeout
}
