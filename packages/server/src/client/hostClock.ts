/** The clock of the host, for a client in a page: that of `@troupe/otp` is made for thousands of timers, and is larger than the client. */
import type { Clock } from "@troupe/otp"

export const hostClock: Clock.Clock = {
  now: () => Date.now(),
  setTimeout: (run, ms) => setTimeout(run, ms),
  clearTimeout: (id) => clearTimeout(id as number)
}
