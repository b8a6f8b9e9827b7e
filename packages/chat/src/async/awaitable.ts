/** Tests whether an answer is a value, a promise or an Effect. */
import * as Effect from "effect/Effect"

/** Whether a value is an Effect. Effects that handlers return require no services. */
export const isEffect = (value: unknown): value is Effect.Effect<unknown, unknown> => Effect.isEffect(value)

/** Whether a value can be awaited. */
export const isPromiseLike = <A = unknown>(value: unknown): value is PromiseLike<A> =>
  typeof value === "object" && value !== null && typeof (value as { readonly then?: unknown }).then === "function"

/** Ignores the rejection of a value that should not be a promise, so that it is not an unhandled rejection. */
export const ignoreRejection = (value: unknown): void => {
  if (isPromiseLike(value)) Promise.resolve(value).catch(() => undefined)
}

/** Defers to a microtask, so that the current process does not own the call and its exit cannot cancel the call. */
export const outsideTurn = (): Promise<void> => Promise.resolve()
