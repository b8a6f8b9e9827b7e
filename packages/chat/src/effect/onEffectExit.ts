/** Calls a function when an effect ends. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"

/** Returns the effect with a finalizer: after `wait` it calls `settled` or `failed`; an interruption is a failure. */
export const onEffectExit = <A, E>(
  effect: Effect.Effect<A, E>,
  wait: () => Promise<void>,
  settled: (result: A) => void,
  failed: (error: unknown) => void
): Effect.Effect<A, E> =>
  Effect.onExit(effect, (exit) =>
    Effect.map(Effect.promise(wait), () => {
      if (Exit.isSuccess(exit)) settled(exit.value)
      else failed(Cause.hasInterruptsOnly(exit.cause) ? new Error("interrupted") : Cause.squash(exit.cause))
    })
  )
