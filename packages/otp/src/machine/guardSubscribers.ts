/**
 * Keeps the faults of an actor's subscribers, and its own, from being rethrown on a timer.
 *
 * XState rethrows the error of an actor where a subscriber has no error listener, and whatever a subscriber throws. In a
 * process the first is the exit reason, told to links and monitors, and the second is reported as a crash.
 */
import { toObserver } from "xstate"
import { processAbove, itsProcess } from "./xstateActor.ts"
import type { Listeners, Node } from "./xstateActor.ts"

/** The observer for an actor to be given in place of the listeners. */
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
