/**
 * The reason of a process's end.
 *
 * A reason is any value. The values with a special meaning are listed at `ExitReason`. An error that a process throws is
 * its reason verbatim. Only `normal` is a normal end: any other reason ends linked processes that do not trap exits.
 */
import { errorTitle, summary } from "./valueSummary.ts"

/**
 * The reason a process ended with.
 *
 * **Details**
 *
 * - `"normal"`: the work is done.
 * - `"shutdown"`, `Shutdown`: an orderly end on request.
 * - `"kill"`: as a signal, the only one that cannot be trapped.
 * - `"killed"`: the reason that other processes see for a killed process.
 * - `"noproc"`: the process does not exist.
 * - `NoCatch`: the process threw a value that is not an `Error`.
 * - an `Error`: the process threw it, rejected with it or failed with it.
 * - anything else: the process chose this reason.
 */
export type ExitReason = unknown

/** An orderly end that carries a value. */
export interface Shutdown {
  readonly _tag: "Shutdown"
  /** What the process ended with. */
  readonly value: unknown
}

/** The end of a process that threw a value that is not an `Error`. */
export interface NoCatch {
  readonly _tag: "NoCatch"
  /** The thrown value, which is no error. */
  readonly value: unknown
}

/** Makes the reason of an orderly end that carries a value. */
export const shutdown = (value: unknown): Shutdown => ({ _tag: "Shutdown", value })

/** Makes the reason of a process that threw a value that is not an `Error`. */
export const noCatch = (value: unknown): NoCatch => ({ _tag: "NoCatch", value })

/** The tag of a reason. A reason that cannot be read, such as a revoked proxy, has no tag. */
const tagOf = (reason: unknown): unknown => {
  if (typeof reason !== "object" || reason === null) return undefined
  try {
    return "_tag" in reason ? reason._tag : undefined
  } catch {
    return undefined
  }
}

/** Whether a process ended because its work was done. */
export const isNormal = (reason: ExitReason): reason is "normal" => reason === "normal"

/** Whether the reason is an orderly end on request: `"shutdown"` or a `Shutdown` with a value. */
export const isShutdown = (reason: ExitReason): reason is "shutdown" | Shutdown =>
  reason === "shutdown" || tagOf(reason) === "Shutdown"

/** Whether a transient child is restarted after this reason: any reason but a normal end or a shutdown. */
export const isAbnormal = (reason: ExitReason): boolean => !isNormal(reason) && !isShutdown(reason)

/** Whether a reason is a thrown value that is not an `Error`. */
export const isNoCatch = (reason: ExitReason): reason is NoCatch => tagOf(reason) === "NoCatch"

const shown = (reason: ExitReason): string => {
  if (typeof reason === "string") return reason
  if (reason instanceof Error) return errorTitle(reason)
  if (isShutdown(reason)) return reason === "shutdown" ? reason : `shutdown (${format(reason.value)})`
  if (isNoCatch(reason)) return `threw ${format(reason.value)}`
  return JSON.stringify(reason) ?? String(reason)
}

/** Formats a reason in one line. Never throws: a reason that cannot be read is shown as such. */
export const format = (reason: ExitReason): string => {
  try {
    return shown(reason)
  } catch {
    return summary(reason)
  }
}
