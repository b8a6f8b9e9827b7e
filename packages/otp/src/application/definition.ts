/** An application, and the program that runs it. */

import type { ExitReason, Pid, System, Timeout } from "../core/index.ts"

/** The definition of an application. */
export interface Definition {
  /** The name of the application in the system, and the label of its process. */
  readonly name: string
  /** The applications that must run before this one starts. */
  readonly dependsOn?: ReadonlyArray<Definition>
  /**
   * Starts the tree under `parent`, linked to it, and returns its top process, usually a supervisor. If it throws, the
   * application does not start.
   */
  start(parent: Pid): Pid | Promise<Pid>
  /** Called before the tree ends, also if the tree ended by itself. Its errors are reported, and the tree still ends. */
  prepStop?(): unknown
  /** Called after the tree has ended, also if it ended by itself. Its errors are reported. */
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

/** The source of host signals, such as Node's `process`. */
export interface Signals {
  /** Calls `listener` for every such signal, until `off` is called with the same function. */
  on(signal: string, listener: () => void): unknown
  /** Ends the calls of `listener` for this signal. */
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

/** The end of a program. */
export interface Outcome {
  /**
   * The exit status for the host: 0 if it was asked to end, or its application ended `normal`, and everything ended in order;
   * else 1.
   */
  readonly status: 0 | 1
  /** What ended the program. */
  readonly end: End
}

/** How a program is run. */
export interface RunOptions {
  /** The system that the application starts in. Default: a new one. */
  readonly system?: System
  /** Where the signals come from: Node's `process`. Default: none, so that no signal ends the program. */
  readonly signals?: Signals
  /** The signals that end the program. Default: `SIGINT` and `SIGTERM`. */
  readonly names?: ReadonlyArray<string>
  /** What the end of the application, or of a dependency, does to the program. Default: `"permanent"`. */
  readonly kind?: Kind
  /** How long the stop may take. Default: 10 seconds, as for `System.stop`. */
  readonly timeout?: Timeout
}
