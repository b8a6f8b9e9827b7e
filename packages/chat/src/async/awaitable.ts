/** Tells the three forms of an answer apart: a value, a promise of it, an Effect of it. */
import * as Effect from "effect/Effect"

/** Whether a value is an Effect; the ones handlers return need no services. */
export const isEffect = (value: unknown): value is Effect.Effect<unknown, unknown> => Effect.isEffect(value)

/** Whether a value can be awaited. */
export const isPromiseLike = <A = unknown>(value: unknown): value is PromiseLike<A> =>
  typeof value === "object" && value !== null && typeof (value as { readonly then?: unknown }).then === "function"

/** For an answer that should have been none to wait for: its rejection is nobody's. */
export const ignoreRejection = (value: unknown): void => {
  if (isPromiseLike(value)) Promise.resolve(value).catch(() => undefined)
}
