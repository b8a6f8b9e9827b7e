/** The waits between the starts of a server, and their bound. */
import type { McpRestarts } from "../connection/index.ts"

/** A connection that lasted so long is no failed start when it ends. */
export const lastingMs = 60_000

/** The wait before the next start, after so many failed ones in a row; nothing when there is none. */
export const waitAfter = (failedStarts: number, restarts: McpRestarts = {}): number | undefined => {
  const { maxStarts = 10, firstDelayMs = 500, maxDelayMs = 30_000 } = restarts
  return failedStarts < maxStarts ? Math.min(maxDelayMs, firstDelayMs * 2 ** (failedStarts - 1)) : undefined
}
