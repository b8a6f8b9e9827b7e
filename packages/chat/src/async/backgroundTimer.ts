import type { Clock } from "@troupe/otp"

/** Sets a background timer, or an ordinary timer where the clock has no background timers. */
export const inBackground = (clock: Clock.Clock, run: () => void, ms: number): unknown =>
  clock.setBackgroundTimeout === undefined ? clock.setTimeout(run, ms) : clock.setBackgroundTimeout(run, ms)
