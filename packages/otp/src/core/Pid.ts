/**
 * The identity of a process.
 *
 * A pid *is* the process object. It can be compared with `===`, used as a map key, used as an address and printed. All
 * other operations are in `Process.ts`.
 */
import type { System } from "./SystemRef.ts"

/** The key of every pid; it identifies a value as a pid. */
export const pidMark: unique symbol = Symbol.for("@troupe/otp/pid")

declare const message: unique symbol

/**
 * A process that accepts messages of type `M`.
 *
 * **Details**
 *
 * `M` is contravariant: a pid that accepts more messages is assignable to one that accepts fewer. Every pid is a `Pid`
 * (a `Pid<never>`), the type for code that only signals, links or monitors.
 *
 * The pid from a start function has its kind in its type, such as `GenServer.Server` or `Process.Process`. A pid of one
 * kind is not assignable to another kind. A plain `Pid` has no kind and is assignable to every kind; write
 * `const pid: Pid = …` to remove the kind.
 *
 * **Gotchas**
 *
 * A pid stays a valid value after its process ends; a message to it is then discarded.
 */
export interface Pid<in M = never> {
  /** The number of the process, unique in its system and never reused. */
  readonly id: number
  /** The name shown by the observer and in crash reports. */
  readonly label: string
  readonly [message]?: ((message: M) => void) | undefined
  /** The pid as text, `<0.12.0>`. */
  toString(): string
}

/**
 * An address that is resolved at each use: a registered name, a key in a registry, a child of a supervisor.
 *
 * **Details**
 *
 * `M` is the type of the messages that the process accepts. `P` is the type of its pid, where it is known, so that the
 * requests of a server are typed through its address too.
 *
 * **When to use**
 *
 * For a process that may be restarted: its pid changes, its name does not.
 */
export interface Name<in M = never, out P extends Pid = Pid> {
  /** The name or key as text. */
  readonly name: string
  /** The system that the address belongs to. */
  readonly system: System
  readonly [message]?: ((message: M) => void) | undefined
  /** Returns the living process behind the address. */
  whereis(): P | undefined
  toString(): string
}

/** The type of the messages that a process accepts. */
export type MessageOf<P extends Pid> = P extends Pid<infer M> ? M : never

/** An address of a message, call or monitor: a pid or a name. */
export type Target<M = never> = Pid<M> | Name<M>

/** Whether a target is a name, which must be resolved. */
export const isName = <M>(target: Target<M>): target is Name<M> => "whereis" in target
