/** How long a caller waits, in milliseconds. */
import * as Duration from "effect/Duration"

/**
 * How long to wait.
 *
 * **Units and defaults**
 *
 * A bare number is milliseconds; `"infinity"` waits without a limit. A negative time or `NaN` throws a `RangeError`.
 */
export type Timeout = Duration.Input | "infinity"

export const milliseconds = (timeout: Timeout): number => {
  const ms =
    typeof timeout === "number"
      ? timeout
      : timeout === "infinity"
        ? Number.POSITIVE_INFINITY
        : Duration.toMillis(timeout)
  if (ms >= 0) return ms
  throw new RangeError(`${ms} ms is no time to wait: give 0 or more, or "infinity"`)
}
