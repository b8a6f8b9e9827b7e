/**
 * Calls functions of the user whose failure no caller gets.
 *
 * REPORT5. An exception and a rejection are a report of the system's log, and change nothing else.
 */
import { System } from "@troupe/otp"
import { isPromiseLike } from "./awaitable.ts"
import { defaultSystem } from "./defaultSystem.ts"

/** Writes a fault that no caller gets to the log of a system. */
export const reportFault = (system: System.System | undefined, subject: string, error: unknown): void =>
  System.report(system ?? defaultSystem(), { subject, error })

/** Calls a function and awaits nothing. An exception and a rejection are reported with `subject`, and thrown to no caller. */
export const callUnawaited = (system: System.System | undefined, subject: string, call: () => unknown): void => {
  try {
    const answer = call()
    if (isPromiseLike(answer)) Promise.resolve(answer).catch((error: unknown) => reportFault(system, subject, error))
  } catch (error) {
    reportFault(system, subject, error)
  }
}
