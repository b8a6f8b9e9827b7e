/** A value, or a promise or an effect of one. */
import * as Effect from "effect/Effect"

const isEffect = <A>(value: A | Promise<A> | Effect.Effect<A, unknown>): value is Effect.Effect<A, unknown> =>
  Effect.isEffect(value)

const isPromise = <A>(value: A | Promise<A>): value is Promise<A> =>
  typeof value === "object" && value !== null && "then" in value

/** Maps a value, promise or effect. A plain value costs no promise and no fiber. */
export const mapAnswer = <A, B>(
  answer: A | Promise<A> | Effect.Effect<A, unknown>,
  change: (value: A) => B
): B | Promise<B> | Effect.Effect<B, unknown> => {
  if (isEffect(answer)) return Effect.map(answer, change)
  return isPromise(answer) ? answer.then(change) : change(answer)
}
