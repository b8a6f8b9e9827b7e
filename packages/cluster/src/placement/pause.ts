import type { Clock } from "@troupe/otp"

/** Resolves after some time, or as soon as one of the signals is aborted. No timer and no listener is left. */
export const pause = (clock: Clock.Clock, ms: number, signals: ReadonlyArray<AbortSignal | undefined>): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      clock.clearTimeout(timer)
      for (const signal of signals) signal?.removeEventListener("abort", done)
      resolve()
    }
    const timer = clock.setTimeout(done, ms)
    for (const signal of signals) signal?.addEventListener("abort", done, { once: true })
    if (signals.some((signal) => signal?.aborted === true)) done()
  })
