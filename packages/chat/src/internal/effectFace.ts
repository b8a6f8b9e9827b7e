/** From promises and async iterables to Effects and Streams: what is expected fails, anything else is a defect. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"

/** Which of the errors something rejects with are expected. */
export type Expected<E> = (error: unknown) => error is E

/** Runs a promise; interrupting aborts its signal. */
export const attempt = <A, E>(
  begin: (signal: AbortSignal) => Promise<A>,
  isExpected: Expected<E>
): Effect.Effect<A, E> =>
  Effect.callback((resume, signal) => {
    begin(signal).then(
      (value) => resume(Effect.succeed(value)),
      (error: unknown) => resume(failing(error, isExpected))
    )
  })

/**
 * Opens events for as long as the scope. Interrupted while it opens, or waits to be sent again, a request is given up; one
 * that opens all the same is released.
 */
export const opening = <A extends { readonly return: () => Promise<unknown> }, E>(
  open: (signal: AbortSignal) => Promise<A>,
  isExpected: Expected<E>
): Effect.Effect<A, E, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<A, E>((resume, signal) => {
      const opened = open(signal)
      opened.then(
        (events) => resume(Effect.succeed(events)),
        (error: unknown) => resume(failing(error, isExpected))
      )
      return Effect.promise(() =>
        opened.then(
          (events) => events.return(),
          () => undefined
        )
      )
    }),
    (events) => Effect.promise(() => events.return()),
    { interruptible: true }
  )

/** Reads what was opened. */
export const reading = <A, E>(events: AsyncIterable<A>, isExpected: Expected<E>): Stream.Stream<A, E> =>
  Stream.fromAsyncIterable(events, (error) => error).pipe(
    Stream.catch((error) => Stream.fromEffect(failing(error, isExpected)))
  )

/** Aborted when either is. */
export const both = (signal: AbortSignal, given: AbortSignal | undefined): AbortSignal =>
  given === undefined ? signal : AbortSignal.any([signal, given])

const failing = <E>(error: unknown, isExpected: Expected<E>): Effect.Effect<never, E> =>
  isExpected(error) ? Effect.fail(error) : Effect.die(error)
