/**
 * The members of an XState actor that are replaced while a process runs it: `logic`, `start`, `send` and `subscribe`.
 *
 * All four are public. They are replaced when XState's inspection reports the new actor, before its first snapshot exists.
 * An actor that represents a process keeps its logic. No actor under a bare `createActor` is affected.
 *
 * ATREE5. An actor that represents a process has no process of its own: XState starts it and passes it events as usual.
 */
import {
  Actor,
  type AnyActorLogic,
  type AnyActorScope,
  type EventObject,
  type Observer,
  type Snapshot,
  toObserver
} from "xstate"
import { type ActorHost, actorHost, type AnyActor, processOf, setActorHost, standsForProcess } from "./actorTable.ts"

type Listeners = Parameters<typeof toObserver>

/** XState's own methods. */
interface Methods {
  readonly start: (this: AnyActor) => unknown
  readonly send: (this: AnyActor, event: EventObject) => void
  readonly subscribe: (this: AnyActor, observer: Observer<unknown>) => unknown
}

export const { send, start, subscribe } = Actor.prototype as unknown as Methods

const methods = {
  start(this: AnyActor) {
    actorHost(this)?.start()
    return this
  },
  subscribe(this: AnyActor, ...listeners: Listeners) {
    return subscribe.call(this, guarded(this, listeners))
  }
}

/** Replaces the members of an actor. */
export const takeOver = (ref: AnyActor, host: ActorHost): void => {
  setActorHost(ref, host)
  Object.assign(ref, methods)
  ref.send = (event: EventObject) => host.sent(event)
  if (!standsForProcess(ref.logic)) ref.logic = hostedLogic(ref.logic)
}

const logics = new WeakMap<AnyActorLogic, AnyActorLogic>()

/** The same logic, whose actors ask their hosts about each event: one for all actors of a logic. */
const hostedLogic = (logic: AnyActorLogic): AnyActorLogic => {
  const members = logics.get(logic)
  if (members !== undefined) return members
  const hostIn = (scope: AnyActorScope): ActorHost | undefined => {
    const host = actorHost(scope.self)
    if (host !== undefined) host.scope = scope
    return host
  }
  const functions: Partial<AnyActorLogic> = {
    getInitialSnapshot: (scope, input) => {
      hostIn(scope)
      return logic.getInitialSnapshot(scope, input) as unknown
    },
    transition: (snapshot: object, event: EventObject, scope) =>
      hostIn(scope)?.transition(snapshot, event, scope) ?? (logic.transition(snapshot, event, scope) as object)
  }
  if (logic.restoreSnapshot !== undefined) {
    functions.restoreSnapshot = (stored: Snapshot<unknown>, scope) => {
      hostIn(scope)
      return logic.restoreSnapshot?.(stored, scope) as unknown
    }
  }
  const hosted = Object.assign(Object.create(logic) as AnyActorLogic, functions)
  logics.set(logic, hosted)
  return hosted
}

/**
 * The observer that replaces the listeners of a subscriber.
 *
 * XState rethrows the error of an actor whose subscriber has no error listener, and any error of a subscriber, on a timer.
 * In a process the first is the exit reason, seen by links and monitors, and the second is reported as a crash.
 */
const guarded = (ref: AnyActor, listeners: Listeners): Observer<unknown> => {
  const guard =
    <A>(listener: ((value: A) => void) | undefined) =>
    (value: A): void => {
      if (listener === undefined || actorHost(ref)?.isQuiet === true) return
      const cell = processOf(ref)
      try {
        if (cell === undefined) listener(value)
        else cell.kernel.as(cell, () => listener(value))
      } catch (error) {
        cell?.kernel.report(cell, error)
      }
    }
  const { next, error, complete } = toObserver<unknown>(...listeners)
  return { next: guard(next), error: guard(error), complete: () => guard(complete)(undefined) }
}
