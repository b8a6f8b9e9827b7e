/**
 * Keeps the faults of an actor's subscribers, and its own, from being rethrown on a timer.
 *
 * XState rethrows the error of an actor where a subscriber has no error listener, and whatever a subscriber throws. In a
 * process the first is the exit reason, told to links and monitors, and the second is reported as a crash.
 */
import { toObserver } from "xstate"
import type { AnyActor } from "xstate"

export const guardSubscribers = (actor: AnyActor, report: (error: unknown) => void): void => {
  const subscribe = actor.subscribe.bind(actor)
  const guarded =
    <A>(listener: ((value: A) => void) | undefined) =>
    (value: A): void => {
      try {
        listener?.(value)
      } catch (error) {
        report(error)
      }
    }
  actor.subscribe = (...listeners: Parameters<typeof toObserver>) => {
    const { next, error, complete } = toObserver(...listeners)
    return subscribe(guarded(next), guarded(error), () => guarded(complete)(undefined))
  }
}
