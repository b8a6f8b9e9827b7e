/**
 * The actions of `gen_statem`, for machines that are hosted.
 *
 * Each is made of XState's own actions, and its arguments are registered, as in `chartActions.ts`. Under XState they use the queue
 * of the machine that handles the event.
 *
 * QACT1. An action that needs a queue throws in a machine that has none, because it was not hosted.
 * QACT2. A call of a machine gets the reply of an action: of the same event, of a later one, or of one that takes it again.
 * QACT3. A restored machine replies to no caller of its earlier life.
 */
import * as xstate from "xstate"
import type { ActionFunction, DoNotInfer, EventObject, MachineContext, ParameterizedObject } from "xstate"
import { type EventQueue, eventTimeoutId, postponing, stateTimeoutId } from "./eventQueue.ts"
import { register } from "./chartActions.ts"

export type Params = ParameterizedObject["params"] | undefined

/** What an action is called with. */
export interface Args<C extends MachineContext, H extends EventObject> {
  /** The context that earlier actions left. */
  readonly context: C
  /** The event that is handled. */
  readonly event: H
}

/** A value, or a function of what an action is called with. */
export type Resolvable<C extends MachineContext, H extends EventObject, P extends Params, A> =
  | A
  | ((args: Args<C, H>, params: P) => A)

/** A built-in action of a machine with these events. */
export type Action<
  Context extends MachineContext,
  Handled extends EventObject,
  Event extends EventObject,
  P extends Params
> = ActionFunction<Context, Handled, Event, P, never, never, never, never, never>

type Code = (args: unknown, params: unknown) => unknown

const resolve = (value: unknown, args: unknown, params: unknown): unknown =>
  typeof value === "function" ? (value as Code)(args, params) : value

/** The queue of the machine that handles an event under XState at present. */
let present: { readonly self: object; readonly queue: EventQueue } | undefined

/** Runs a step of a machine with its queue. */
export const withQueue = <A>(self: object, queue: EventQueue, step: () => A): A => {
  const outer = present
  present = { self, queue }
  try {
    return step()
  } finally {
    present = outer
  }
}

const queueOf = (self: object, name: string): EventQueue => {
  if (present?.self === self) return present.queue
  throw new TypeError(`The action ${name} needs a hosted machine: pass the machine to StateMachine.hosted`)
}

/** Keeps the event, see `StateMachine.postpone`. */
export const postpone: (args: object) => void = register(
  xstate.assign(({ context, event, self }: { context: MachineContext; event: EventObject; self: object }) => {
    queueOf(self, "postpone")
    return postponing(context, event)
  }) as (args: object) => void,
  { kind: "postpone" }
)

/** Inserts an event, see `StateMachine.insert`. */
export const insert = <C extends MachineContext, H extends EventObject, E extends EventObject, P extends Params>(
  event: Resolvable<C, H, P, DoNotInfer<E>>
): Action<C, H, E, P> =>
  register(
    xstate.enqueueActions(({ self, ...args }, params) =>
      queueOf(self, "insert").insert(resolve(event, args, params) as EventObject)
    ) as Action<C, H, E, P>,
    { kind: "insert", event }
  )

/** Sets a timeout, see `StateMachine.timeout`. */
export const timeout = <C extends MachineContext, H extends EventObject, E extends EventObject, P extends Params>(
  id: string,
  event: Resolvable<C, H, P, DoNotInfer<E>>,
  delay: Resolvable<C, H, P, number>
): Action<C, H, E, P> =>
  register(
    xstate.enqueueActions(({ self, enqueue, ...args }, params) => {
      const due = resolve(event, args, params) as EventObject
      const ms = resolve(delay, args, params)
      enqueue.cancel(id)
      if (queueOf(self, "timeout").setTimeout(id, due, ms)) enqueue.raise(due as never, { id, delay: ms })
    }) as Action<C, H, E, P>,
    { kind: "timeout", id, event, delay }
  )

/** XState's `cancel`. It also ends a timeout of no time. */
export const cancel = ((id: unknown) =>
  register(
    xstate.enqueueActions(({ self, enqueue, ...args }, params) => {
      const due = resolve(id, args, params) as string
      if (present?.self === self) present.queue.clear(due)
      enqueue.cancel(due)
    }),
    { kind: "cancel", id }
  )) as typeof xstate.cancel

/** Sets the timeout that a change of state ends, see `StateMachine.timeout`. */
export const stateTimeout = <C extends MachineContext, H extends EventObject, E extends EventObject, P extends Params>(
  event: Resolvable<C, H, P, DoNotInfer<E>>,
  delay: Resolvable<C, H, P, number>
): Action<C, H, E, P> => timeout(stateTimeoutId, event, delay)

/** Sets the timeout that any event ends, see `StateMachine.timeout`. */
export const eventTimeout = <C extends MachineContext, H extends EventObject, E extends EventObject, P extends Params>(
  event: Resolvable<C, H, P, DoNotInfer<E>>,
  delay: Resolvable<C, H, P, number>
): Action<C, H, E, P> => timeout(eventTimeoutId, event, delay)

/** A call, as a chart gets it in the event. */
interface Asker {
  readonly answer: (value: unknown) => void
}

/** Replies to a call. What a stored snapshot has in place of a call is not replied to. */
export const answer = (to: unknown, value: unknown): void => {
  if (typeof to === "object" && to !== null && "answer" in to) (to as Asker).answer(value)
}

const fromOf = ({ event }: { readonly event: EventObject & { readonly from?: unknown } }): unknown => event.from

/** Replies to a call, see `StateMachine.reply`. */
export const reply = <C extends MachineContext, H extends EventObject, E extends EventObject, P extends Params, Reply>(
  value: Resolvable<C, H, P, Reply>,
  to: (args: Args<C, H>, params: P) => unknown = fromOf
): Action<C, H, E, P> =>
  register((args: Args<C, H>, params: P) => answer(to(args, params), resolve(value, args, params)), {
    kind: "reply",
    value,
    to
  })
