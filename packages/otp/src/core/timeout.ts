/** How long a caller waits, in milliseconds. */
import * as Duration from "effect/Duration"
import { summary } from "./valueSummary.ts"

/**
 * How long to wait.
 *
 * **Units and defaults**
 *
 * A bare number is milliseconds; `"infinity"` waits without a limit. A negative time or `NaN` throws a `RangeError`.
 */
export type Timeout = Duration.Input | "infinity"

const read = (timeout: Duration.Input): number => {
  try {
    return Duration.toMillis(timeout)
  } catch {
    const allowed = 'milliseconds, such as 5000, a text such as "5 seconds", or "infinity"'
    throw new RangeError(`${summary(timeout)} is no time to wait: give ${allowed}`)
  }
}

export const milliseconds = (timeout: Timeout): number => {
  const ms = typeof timeout === "number" ? timeout : timeout === "infinity" ? Number.POSITIVE_INFINITY : read(timeout)
  if (ms >= 0) return ms
  throw new RangeError(`${ms} ms is no time to wait: give 0 or more, or "infinity"`)
}
