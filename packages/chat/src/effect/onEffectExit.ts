/** An effect whose end somebody is told of. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"

/** The same effect, whose end is told after `wait`; an interruption is a failure to who is told. */
export const userAnswer = <A, E>(
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
