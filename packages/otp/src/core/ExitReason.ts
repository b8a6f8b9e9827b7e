/**
 * Why a process ended.
 *
 * A reason is any value. Some have a meaning of their own, listed at `ExitReason`; errors thrown by a process are its
 * reason verbatim. Only `normal` is a normal end: everything else ends the linked processes that do not trap exits.
 */
import { summary } from "./valueSummary.ts"

/**
 * The reason a process ended with.
 *
 * **Details**
 *
 * - `"normal"`: its work is done.
 * - `"shutdown"`, `Shutdown`: it was asked to end, in order.
 * - `"kill"`: as a signal, the one that cannot be trapped.
 * - `"killed"`: what the others see of a killed process.
 * - `"noproc"`: there was no such process.
 * - `NoCatch`: it threw something that is no `Error`.
 * - an `Error`: it threw, rejected or failed with that.
 * - anything else: it chose so.
 */
export type ExitReason = unknown

/** An orderly end that carries a value. */
export interface Shutdown {
  readonly _tag: "Shutdown"
  readonly value: unknown
}

/** The end of a process that threw a value which is not an `Error`. */
export interface NoCatch {
  readonly _tag: "NoCatch"
  readonly value: unknown
}

/** Makes the reason of an orderly end that carries a value. */
export const shutdown = (value: unknown): Shutdown => ({ _tag: "Shutdown", value })

/** Makes the reason of a process that threw a value which is not an `Error`. */
export const noCatch = (value: unknown): NoCatch => ({ _tag: "NoCatch", value })

/** A reason is any value: one that cannot be read, such as a revoked proxy, has no tag. */
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

/** Whether a process was asked to end: `"shutdown"` or a `Shutdown` with a value. */
export const isShutdown = (reason: ExitReason): reason is "shutdown" | Shutdown =>
  reason === "shutdown" || tagOf(reason) === "Shutdown"

/** Whether a transient child is restarted after this reason: anything but a normal end or a shutdown. */
export const isAbnormal = (reason: ExitReason): boolean => !isNormal(reason) && !isShutdown(reason)

/** Whether a reason says that a thrown value was no `Error`. */
export const isNoCatch = (reason: ExitReason): reason is NoCatch => tagOf(reason) === "NoCatch"

const shown = (reason: ExitReason): string => {
  if (typeof reason === "string") return reason
  if (reason instanceof Error) return `${reason.name}: ${reason.message}`
  if (isShutdown(reason)) return reason === "shutdown" ? reason : `shutdown (${format(reason.value)})`
  if (isNoCatch(reason)) return `threw ${format(reason.value)}`
  return JSON.stringify(reason) ?? String(reason)
}

/** Shows a reason to a reader, in one line. Never fails: what cannot be read is shown as such. */
export const format = (reason: ExitReason): string => {
  try {
    return shown(reason)
  } catch {
    return summary(reason)
  }
}
