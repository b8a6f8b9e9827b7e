/**
 * How a supervisor starts, restarts and ends a child.
 *
 * **Source**
 *
 * The OTP design principles, "Supervisor Behaviour"; Elixir's `Supervisor`, "Child specification".
 */
import type { Pid } from "./Pid.ts"

/**
 * When a child is started again after it ended.
 *
 * **Details**
 *
 * - `"permanent"`: always.
 * - `"transient"`: unless it ended `normal`, `shutdown` or with a `Shutdown`.
 * - `"temporary"`: never; its spec is forgotten when it ends.
 */
export type Restart = "permanent" | "transient" | "temporary"

/**
 * How a child is ended.
 *
 * **Details**
 *
 * - a number: the exit signal `shutdown`, and `kill` after so many milliseconds.
 * - `"infinity"`: the exit signal `shutdown`, and as long as it takes.
 * - `"brutalKill"`: `kill` at once.
 */
export type Shutdown = number | "brutalKill" | "infinity"

/** A supervisor or a worker: counted apart, and with another default for `shutdown`. */
export type ChildType = "supervisor" | "worker"

/**
 * The start of a child and the rules for it.
 *
 * **Units and defaults**
 *
 * `restart` is `"permanent"`, `type` `"worker"`, `shutdown` 5000 milliseconds, or `"infinity"` for a supervisor,
 * `significant` false.
 *
 * **Contract**
 *
 * `start` makes a process linked to `parent`. It may answer `"ignore"`, or fail with `StartIgnored`, to run no process;
 * any other failure is a failed start. It is called again for every restart.
 */
export interface ChildSpec {
  readonly id: string
  readonly start: (parent: Pid) => Pid | "ignore" | Promise<Pid | "ignore">
  readonly restart?: Restart
  readonly shutdown?: Shutdown
  readonly type?: ChildType
  /** Its end by itself may end the supervisor, see `autoShutdown`. */
  readonly significant?: boolean
}

/** The restart rule of a spec. */
export const restartOf = (spec: ChildSpec): Restart => spec.restart ?? "permanent"

/** The kind of a spec. */
export const typeOf = (spec: ChildSpec): ChildType => spec.type ?? "worker"

/** The way a spec's child is ended. */
export const shutdownOf = (spec: ChildSpec): Shutdown =>
  spec.shutdown ?? (typeOf(spec) === "supervisor" ? "infinity" : 5000)
