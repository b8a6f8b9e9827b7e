/** The services of a system's fibers: its clock for their sleeps, and its seed for their random numbers. */
import type * as Duration from "effect/Duration"
import * as EffectClock from "effect/Clock"
import * as Context from "effect/Context"
import * as Durations from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import { chancesOf, type Clock, live } from "../time/index.ts"

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

const clockService = (clock: Clock): Context.Context<never> =>
  Context.make(EffectClock.Clock, {
    currentTimeMillisUnsafe: () => clock.now(),
    currentTimeMillis: Effect.sync(() => clock.now()),
    currentTimeNanosUnsafe: () => nanos(clock),
    currentTimeNanos: Effect.sync(() => nanos(clock)),
    monotonicTimeNanosUnsafe: () => nanos(clock),
    monotonicTimeNanos: Effect.sync(() => nanos(clock)),
    sleep: (duration) => sleep(clock, duration)
  })

const randomService = (seed: number): Context.Context<never> => {
  const chance = chancesOf(seed)("effects")
  return Context.make(Random.Random, {
    nextDoubleUnsafe: chance,
    nextIntUnsafe: () =>
      Math.floor(chance() * (Number.MAX_SAFE_INTEGER - Number.MIN_SAFE_INTEGER + 1)) + Number.MIN_SAFE_INTEGER
  })
}

/** The clock and random services of a system's fibers; empty if the host's are used. */
export const effectServices = (clock: Clock, seed?: number): Context.Context<never> =>
  Context.merge(
    clock === live ? Context.empty() : clockService(clock),
    seed === undefined ? Context.empty() : randomService(seed)
  )
