/**
 * The identity of a process.
 *
 * A pid *is* the process object: it can be compared with `===`, used as a map key, sent to and shown, and tells
 * nothing else. Everything one can do with it is in `Process.ts`.
 */
import type { System } from "./SystemRef.ts"

/** The key that every pid has: values are recognized as pids by it. */
export const pidMark: unique symbol = Symbol.for("@troupe/otp/pid")

declare const message: unique symbol

/**
 * A process that takes messages of type `M`.
 *
 * **Details**
 *
 * `M` is contravariant: a pid that takes more may be used where one that takes less is wanted, and every pid is a
 * `Pid` (a `Pid<never>`), the type for code that only signals, links or monitors.
 *
 * What start made tells the kind in its type, as `GenServer.Server` or `Process.Process` do: a pid of one kind is not taken
 * for another. A plain `Pid` may be of any kind, and is taken for what the caller says: say `const pid: Pid = …` where code
 * knows more than types do.
 *
 * **Gotchas**
 *
 * A pid stays valid as a value after its process died; sending to it then does nothing.
 */
export interface Pid<in M = never> {
  /** The number of the process, unique in its system and never used twice. */
  readonly id: number
  /** The name shown by the observer and in crash reports. */
  readonly label: string
  readonly [message]?: ((message: M) => void) | undefined
  /** The pid as text, `<0.12.0>`. */
  toString(): string
}

/**
 * An address that is looked up whenever it is used: a registered name, a key in a registry, a child of a supervisor.
 *
 * **Details**
 *
 * `M` is what the process behind it takes. `P` is the type of its pid, where that is known: what may be asked of a server
 * is then known of its address too.
 *
 * **When to use**
 *
 * Where a process may be restarted: its pid changes, its name does not.
 */
export interface Name<in M = never, out P extends Pid = Pid> {
  /** The name or key as text. */
  readonly name: string
  /** The system it leads into. */
  readonly system: System
  readonly [message]?: ((message: M) => void) | undefined
  /** The living process behind the address. */
  whereis(): P | undefined
  toString(): string
}

/** The type of the messages a process takes. */
export type MessageOf<P extends Pid> = P extends Pid<infer M> ? M : never

/** Whatever a message, call or monitor can be directed at. */
export type Target<M = never> = Pid<M> | Name<M>

/** Whether a target is an address, to be looked up. */
export const isName = <M>(target: Target<M>): target is Name<M> => "whereis" in target
