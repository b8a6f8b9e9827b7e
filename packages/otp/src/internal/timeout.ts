/** How long a caller is ready to wait, in milliseconds. */
import * as Duration from "effect/Duration"

/**
 * How long to wait.
 *
 * **Units and defaults**
 *
 * A bare number is milliseconds; `"infinity"` waits for ever.
 */
export type Timeout = Duration.Input | "infinity"

export const milliseconds = (timeout: Timeout): number =>
  typeof timeout === "number" ? timeout : timeout === "infinity" ? Number.POSITIVE_INFINITY : Duration.toMillis(timeout)
