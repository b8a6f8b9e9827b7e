/**
 * From what user code threw, rejected or failed with, to an exit reason.
 *
 * FAIL1. A `SelfExit` gives its reason verbatim, wherever it is thrown.
 * FAIL2. A thrown error is the reason verbatim; a thrown value that is no error is a `NoCatch`.
 * FAIL3. Of several reasons in a cause the first that is no interruption counts.
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

/** What went wrong in user code: the exit reason it makes, and the value itself. */
export interface Failure {
  readonly reason: ExitReason
  readonly thrown: unknown
}

export const ofThrown = (thrown: unknown): Failure => {
  try {
    if (thrown instanceof SelfExit) return { reason: thrown.reason, thrown }
    return { reason: thrown instanceof Error ? thrown : noCatch(thrown), thrown }
  } catch {
    // A proxy that was revoked does not even say whether it is an error.
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
