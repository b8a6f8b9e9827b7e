/**
 * Dead letters: messages without a living receiver, or to a process that does not handle them.
 *
 * They are always counted, and the last ones are stored, to find out why a message has no effect.
 *
 * @example
 * ```ts import.meta.vitest
 * import { DeadLetters, Process, System } from "@troupe/otp"
 *
 * const system = System.make()
 * const pid = Process.spawn<string>(system, () => new Promise(() => {}))
 * Process.kill(pid)
 * Process.send(pid, "anybody?")
 * DeadLetters.counts(system) // => { dead: 1, unexpected: 0 }
 * DeadLetters.recent(system)[0]?.message // => "anybody?"
 * await System.stop(system)
 * ```
 */
import { kernelOf } from "../kernel/index.ts"
import { attach } from "./Telemetry.ts"
import type { System } from "../core/index.ts"
import { deadLetterLogOf } from "./deadLetterLog.ts"
import type { DroppedMessage } from "./Events.ts"

/** A dead letter. Messages left in the mailbox of a process that died are not included. */
export interface DeadLetter extends DroppedMessage {
  /**
   * `"dead"`: its process was dead, the name of a cast was not registered, or its alias was closed. `"unexpected"`: a server
   * without `handleInfo` got a message other than a call or a cast, or a machine got a message that is not an event.
   */
  readonly kind: "dead" | "unexpected"
  /** The time, in milliseconds on the system's clock. */
  readonly at: number
}

/** Counts the dead letters since the system was made. */
export const counts = (system: System): { readonly dead: number; readonly unexpected: number } => {
  const { dead = 0, unexpected = 0 } = deadLetterLogOf(kernelOf(system)) ?? {}
  return { dead, unexpected }
}

/**
 * The last 100 dead letters, oldest first.
 *
 * **Gotchas**
 *
 * The messages themselves are stored, until newer ones replace them.
 */
export const recent = (system: System): ReadonlyArray<DeadLetter> => deadLetterLogOf(kernelOf(system))?.entries ?? []

/** Calls a function for every new dead letter, like `Telemetry.attach`; returns a function that stops it. */
export const subscribe = (system: System, handler: (letter: DeadLetter) => void): (() => void) =>
  attach(system, "message", ({ name, at, metadata }) =>
    handler({ kind: name === "message.dead" ? "dead" : "unexpected", at, ...metadata })
  )
