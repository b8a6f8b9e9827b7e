/**
 * How a supervisor starts, restarts and ends a child.
 *
 * **Source**
 *
 * The OTP design principles, "Supervisor Behaviour"; Elixir's `Supervisor`, "Child specification".
 */
import type { Pid } from "./Pid.ts"

/**
 * When a supervisor restarts a child that ended.
 *
 * **Details**
 *
 * - `"permanent"`: always.
 * - `"transient"`: unless the reason is `normal`, `shutdown` or a `Shutdown`.
 * - `"temporary"`: never; its spec is deleted when it ends.
 */
export type Restart = "permanent" | "transient" | "temporary"

/**
 * How a supervisor ends a child.
 *
 * **Details**
 *
 * - a number: sends the exit signal `shutdown`, and `kill` after so many milliseconds.
 * - `"infinity"`: sends the exit signal `shutdown` and waits without a limit.
 * - `"brutalKill"`: sends `kill` at once.
 */
export type Shutdown = number | "brutalKill" | "infinity"

/** A supervisor or a worker. They are counted separately and have different defaults for `shutdown`. */
export type ChildType = "supervisor" | "worker"

/**
 * The start of a child and the rules for it.
 *
 * **Details**: `Id` is the id as a literal and `P` the type of the child's pid. `Supervisor.child` uses both to type the
 * children. A plain `ChildSpec` describes any child.
 */
export interface ChildSpec<out Id extends string = string, out P extends Pid = Pid> {
  /** The id of the child, of which the supervisor has one. */
  readonly id: Id
  /**
   * Makes a process linked to `parent`; called again for every restart. To run no process it returns `"ignore"` or fails with
   * `StartIgnored`; any other failure is a failed start.
   */
  readonly start: (parent: Pid) => P | "ignore" | Promise<P | "ignore">
  /**
   * When the child is restarted: always (`"permanent"`), unless it ended normally (`"transient"`), or never (`"temporary"`).
   * Default: `"permanent"`.
   */
  readonly restart?: Restart
  /** How long the child may take to end before it is killed. Default: 5000 milliseconds, or `"infinity"` for a supervisor. */
  readonly shutdown?: Shutdown
  /** Whether the child is a supervisor. Default: `"worker"`. */
  readonly type?: ChildType
  /** Whether the supervisor may end when the child ends by itself, see `autoShutdown`. Default: false. */
  readonly significant?: boolean
}

/** The rules of a spec without its id and start, for a child that is itself a supervisor or a service. */
export type Rules = Pick<ChildSpec, "restart" | "shutdown" | "significant">

/** The type of the pid that the `start` of a spec returns. */
export type PidOf<Spec extends Pick<ChildSpec, "start">> = Exclude<Awaited<ReturnType<Spec["start"]>>, "ignore">

/** The restart rule of a spec. */
export const restartOf = (spec: Pick<ChildSpec, "restart">): Restart => spec.restart ?? "permanent"

/** The kind of a spec. */
export const typeOf = (spec: Pick<ChildSpec, "type">): ChildType => spec.type ?? "worker"

/** The shutdown rule of a spec. */
export const shutdownOf = (spec: Pick<ChildSpec, "shutdown" | "type">): Shutdown =>
  spec.shutdown ?? (typeOf(spec) === "supervisor" ? "infinity" : 5000)
