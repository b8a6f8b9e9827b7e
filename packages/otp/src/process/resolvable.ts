/** An answer that is there now, or comes with a promise or an effect. */
import * as Effect from "effect/Effect"

const isEffect = <A>(value: A | Promise<A> | Effect.Effect<A, unknown>): value is Effect.Effect<A, unknown> =>
  Effect.isEffect(value)

const isPromise = <A>(value: A | Promise<A>): value is Promise<A> =>
  typeof value === "object" && value !== null && "then" in value

/** Turns an answer into another, as soon as it is there: one that is there now costs no promise and no fiber. */
export const mapAnswer = <A, B>(
  answer: A | Promise<A> | Effect.Effect<A, unknown>,
  change: (value: A) => B
): B | Promise<B> | Effect.Effect<B, unknown> => {
  if (isEffect(answer)) return Effect.map(answer, change)
  return isPromise(answer) ? answer.then(change) : change(answer)
}
