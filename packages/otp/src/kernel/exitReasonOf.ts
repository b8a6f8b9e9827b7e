/**
 * Turns an error or rejection of user code into an exit reason.
 *
 * FAIL1. The reason of a `SelfExit` is used verbatim, wherever it is thrown.
 * FAIL2. A thrown `Error` is the reason verbatim; any other thrown value becomes a `NoCatch`.
 * FAIL3. Of several reasons in a cause, the first that is not an interruption is used.
 */
import * as Cause from "effect/Cause"
import { type ExitReason, noCatch, shutdown } from "../core/index.ts"

/** Thrown by a process to end itself with a reason. */
export class SelfExit extends Error {
  override readonly name = "SelfExit"
  readonly reason: ExitReason
  constructor(reason: ExitReason) {
    super("a process ended itself")
    this.reason = reason
  }
}

/** A failure of user code: the exit reason, and the thrown value. */
export interface Failure {
  readonly reason: ExitReason
  readonly thrown: unknown
}

export const ofThrown = (thrown: unknown): Failure => {
  try {
    if (thrown instanceof SelfExit) return { reason: thrown.reason, thrown }
    return { reason: thrown instanceof Error ? thrown : noCatch(thrown), thrown }
  } catch {
    // A revoked proxy throws even on `instanceof`.
    return { reason: noCatch(thrown), thrown }
  }
}

export const ofCause = (cause: Cause.Cause<unknown>): Failure => {
  for (const reason of cause.reasons) {
    if (Cause.isDieReason(reason)) return ofThrown(reason.defect)
    if (Cause.isFailReason(reason)) {
      return reason.error instanceof SelfExit ? ofThrown(reason.error) : { reason: reason.error, thrown: reason.error }
    }
  }
  return { reason: shutdown("interrupted"), thrown: undefined }
}
