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
 * **Details**
 *
 * `Id` is the id as a literal and `P` the type of the child's pid: a supervisor started with such specs knows its children
 * by type, see `Supervisor.child`. A plain `ChildSpec` is any child.
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
export interface ChildSpec<out Id extends string = string, out P extends Pid = Pid> {
  readonly id: Id
  readonly start: (parent: Pid) => P | "ignore" | Promise<P | "ignore">
  readonly restart?: Restart
  readonly shutdown?: Shutdown
  readonly type?: ChildType
  /** Its end by itself may end the supervisor, see `autoShutdown`. */
  readonly significant?: boolean
}

/** The rules for a child that is a supervisor or a service itself: what a spec says besides its id and its start. */
export type Rules = Pick<ChildSpec, "restart" | "shutdown" | "significant">

/** The type of the pid that a spec's start makes. */
export type PidOf<Spec extends Pick<ChildSpec, "start">> = Exclude<Awaited<ReturnType<Spec["start"]>>, "ignore">

/** The restart rule of a spec. */
export const restartOf = (spec: ChildSpec): Restart => spec.restart ?? "permanent"

/** The kind of a spec. */
export const typeOf = (spec: ChildSpec): ChildType => spec.type ?? "worker"

/** The way a spec's child is ended. */
export const shutdownOf = (spec: ChildSpec): Shutdown =>
  spec.shutdown ?? (typeOf(spec) === "supervisor" ? "infinity" : 5000)
