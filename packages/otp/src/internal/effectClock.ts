/** A system's clock for the fibers it runs, so that what they sleep is the system's time. */
import type * as Duration from "effect/Duration"
import * as EffectClock from "effect/Clock"
import * as Context from "effect/Context"
import * as Durations from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Clock } from "../Clock.ts"

const nanosPerMilli = 1_000_000

const sleep = (clock: Clock, duration: Duration.Duration): Effect.Effect<void> => {
  const ms = Durations.toMillis(duration)
  if (ms <= 0) return Effect.yieldNow
  if (!Number.isFinite(ms)) return Effect.never
  return Effect.callback<void>((resume) => {
    const id = clock.setTimeout(() => resume(Effect.void), ms)
    return Effect.sync(() => clock.clearTimeout(id))
  })
}

const nanos = (clock: Clock): bigint => BigInt(Math.round(clock.now() * nanosPerMilli))

export const effectServices = (clock: Clock): Context.Context<never> =>
  Context.make(EffectClock.Clock, {
    currentTimeMillisUnsafe: () => clock.now(),
    currentTimeMillis: Effect.sync(() => clock.now()),
    currentTimeNanosUnsafe: () => nanos(clock),
    currentTimeNanos: Effect.sync(() => nanos(clock)),
    monotonicTimeNanosUnsafe: () => nanos(clock),
    monotonicTimeNanos: Effect.sync(() => nanos(clock)),
    sleep: (duration) => sleep(clock, duration)
  })
