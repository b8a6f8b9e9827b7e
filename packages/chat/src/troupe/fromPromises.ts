/**
 * Converts promises and async iterables to Effects and Streams: expected errors are failures, other errors are defects.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import type { StepOptions, Tracing } from "../options/index.ts"

/** Whether an error is expected. */
export type Expected<E> = (error: unknown) => error is E

/** Adds the fiber's abort signal and tracing to options. */
export type Within = <Options extends StepOptions>(options: Options) => Options

/** Runs a promise; interrupting aborts its signal. */
export const attempt = <A, E>(begin: (within: Within) => Promise<A>, isExpected: Expected<E>): Effect.Effect<A, E> =>
  Effect.flatMap(fiberTracing, (tracing) =>
    Effect.callback((resume, signal) => {
      begin(withinOf(signal, tracing)).then(
        (value) => resume(Effect.succeed(value)),
        (error: unknown) => resume(failing(error, isExpected))
      )
    })
  )

/**
 * Opens a stream of events in a scope, which releases it. An interruption while its request opens, or waits for a retry,
 * aborts the request.
 */
export const opening = <A extends { readonly return: () => Promise<unknown> }, E>(
  open: (within: Within) => Promise<A>,
  isExpected: Expected<E>
): Effect.Effect<A, E, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.flatMap(fiberTracing, (tracing) =>
      Effect.callback<A, E>((resume, signal) => {
        const opened = open(withinOf(signal, tracing))
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
      })
    ),
    (events) => Effect.promise(() => events.return()),
    { interruptible: true }
  )

/** The fiber's tracer and parent span; `undefined` with the default (native) tracer. */
const fiberTracing: Effect.Effect<Tracing | undefined> = Effect.contextWith((context: Context.Context<never>) => {
  const tracer = Context.get(context, Tracer.Tracer)
  const parent = Option.getOrUndefined(Context.getOption(context, Tracer.ParentSpan))
  return Effect.succeed(tracer === Tracer.nativeTracer ? undefined : { tracer, parent })
})

const withinOf =
  (signal: AbortSignal, tracing: Tracing | undefined): Within =>
  (options) => ({
    tracing,
    ...options,
    signal: options.signal === undefined ? signal : AbortSignal.any([signal, options.signal])
  })

/** Reads the opened events as a Stream. */
export const reading = <A, E>(events: AsyncIterable<A>, isExpected: Expected<E>): Stream.Stream<A, E> =>
  Stream.fromAsyncIterable(events, (error) => error).pipe(
    Stream.catch((error) => Stream.fromEffect(failing(error, isExpected)))
  )

const failing = <E>(error: unknown, isExpected: Expected<E>): Effect.Effect<never, E> =>
  isExpected(error) ? Effect.fail(error) : Effect.die(error)
