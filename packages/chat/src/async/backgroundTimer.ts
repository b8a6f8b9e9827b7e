import type { Clock } from "@troupe/otp"

/** Sets a timer that nobody waits for, where the clock has such. */
export const inBackground = (clock: Clock.Clock, run: () => void, ms: number): unknown =>
  clock.setBackgroundTimeout === undefined ? clock.setTimeout(run, ms) : clock.setBackgroundTimeout(run, ms)
