/**
 * Keeps the faults of an actor's subscribers, and its own, from being rethrown on a timer.
 *
 * XState rethrows the error of an actor where a subscriber has no error listener, and whatever a subscriber throws. In a
 * process the first is the exit reason, told to links and monitors, and the second is reported as a crash.
 */
import { Actor, toObserver } from "xstate"
import { processAbove, itsProcess } from "./actorNode.ts"
import type { Listeners, Node } from "./actorNode.ts"

const subscribe = Reflect.get(Actor.prototype, "subscribe") as unknown as (this: Node, observer: object) => unknown

/** Replaces an actor's `subscribe`. */
export const guardSubscribers = (node: Node): void => {
  node.subscribe = (...listeners) => subscribeTo(node, listeners)
}

const subscribeTo = (node: Node, listeners: Listeners): unknown => {
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
  return subscribe.call(node, {
    next: guarded(next),
    error: guarded(error),
    complete: () => guarded(complete)(undefined)
  })
}
