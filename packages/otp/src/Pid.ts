/**
 * The identity of a process.
 *
 * A pid *is* the process object: it can be compared with `===`, used as a map key, sent to and shown, and tells
 * nothing else. Everything one can do with it is in `Process.ts`.
 */
import type { System } from "./System.ts"

declare const message: unique symbol

/**
 * A process that takes messages of type `M`.
 *
 * **Details**
 *
 * `M` is contravariant: a pid that takes more may be used where one that takes less is wanted, and every pid is a
 * `Pid` (a `Pid<never>`), the type for code that only signals, links or monitors.
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
 * An address that is looked up whenever it is used: a registered name, or a key in a registry.
 *
 * **When to use**
 *
 * Where a process may be restarted: its pid changes, its name does not.
 */
export interface Name<in M = never> {
  /** The name or key as text. */
  readonly name: string
  /** The system it leads into. */
  readonly system: System
  readonly [message]?: ((message: M) => void) | undefined
  /** The living process behind the address. */
  whereis(): Pid | undefined
  toString(): string
}

/** Whatever a message, call or monitor can be directed at. */
export type Target<M = never> = Pid<M> | Name<M>

/** Whether a target is an address, to be looked up. */
export const isName = <M>(target: Target<M>): target is Name<M> => "whereis" in target
