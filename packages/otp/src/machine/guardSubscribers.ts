/**
 * Prevents errors of an actor and of its subscribers from being rethrown on a timer.
 *
 * XState rethrows the error of an actor whose subscriber has no error listener, and any error of a subscriber. In a
 * process the first is the exit reason, seen by links and monitors, and the second is reported as a crash.
 */
import { toObserver } from "xstate"
import { processAbove, itsProcess } from "./xstateActor.ts"
import type { Listeners, Node } from "./xstateActor.ts"

/** The observer that replaces the listeners of an actor. */
export const guardSubscribers = (node: Node, listeners: Listeners) => {
  const guarded =
    <A>(listener: ((value: A) => void) | undefined) =>
    (value: A): void => {
      try {
        listener?.(value)
      } catch (error) {
        const cell = node[itsProcess] ?? processAbove(node)
        cell?.kernel.report(cell, error)
      }
    }
  const { next, error, complete } = toObserver(...(listeners as Parameters<typeof toObserver>))
  return { next: guarded(next), error: guarded(error), complete: () => guarded(complete)(undefined) }
}
