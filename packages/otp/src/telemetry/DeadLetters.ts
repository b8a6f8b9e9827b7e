/**
 * Messages that went astray: sent to nobody, or to a process that has no use for them.
 *
 * They are always counted, and the last of them kept, for the question why nothing happens.
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

/**
 * A message that went astray.
 *
 * **Details**
 *
 * `kind` says how:
 *
 * - `"dead"`: its process was dead, nobody had the name a cast went to, or the alias it went to was given up.
 * - `"unexpected"`: a server without `handleInfo` got something other than a call or a cast, a machine something that is
 *   no event.
 *
 * `at` is milliseconds on the system's clock. What was still in the mailbox of a process that died is not among them.
 */
export interface DeadLetter extends DroppedMessage {
  readonly kind: "dead" | "unexpected"
  readonly at: number
}

/** Counts the messages that went astray since the system was made. */
export const counts = (system: System): { readonly dead: number; readonly unexpected: number } => {
  const { dead = 0, unexpected = 0 } = deadLetterLogOf(kernelOf(system)) ?? {}
  return { dead, unexpected }
}

/**
 * The last 100 messages that went astray, the oldest first.
 *
 * **Gotchas**
 *
 * They are kept as they were sent, until newer ones take their place.
 */
export const recent = (system: System): ReadonlyArray<DeadLetter> => deadLetterLogOf(kernelOf(system))?.entries ?? []

/** Has a function called with every message that goes astray from now on; answers how to stop. As `Telemetry.attach`. */
export const subscribe = (system: System, handler: (letter: DeadLetter) => void): (() => void) =>
  attach(system, "message", ({ name, at, metadata }) =>
    handler({ kind: name === "message.dead" ? "dead" : "unexpected", at, ...metadata })
  )
