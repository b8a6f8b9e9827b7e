/**
 * A machine that XState runs with the queue of `eventQueue.ts`.
 *
 * QMACH1. Under XState, in a process or under a bare `createActor`, a hosted machine takes events in the same order as from a table.
 */
import type { AnyActorScope, AnyMachineSnapshot, AnyStateMachine, EventObject } from "xstate"
import { EventQueue } from "./eventQueue.ts"
import { withQueue } from "./queueActions.ts"
import { usesQueue } from "./hostable.ts"

/** Runs the first step of a machine, or an event, with what the queue makes due; returns the last snapshot. */
const run = (
  transition: AnyStateMachine["transition"],
  scope: AnyActorScope,
  snapshot: AnyMachineSnapshot | undefined,
  first: EventObject | (() => AnyMachineSnapshot)
): AnyMachineSnapshot => {
  let last = snapshot as AnyMachineSnapshot
  const { self, system } = scope
  const queue = new EventQueue({
    isActive: () => last.status === "active",
    state: () => (last === undefined ? undefined : JSON.stringify(last.value)),
    context: () => last.context,
    replaceContext: (context) => (last = Object.assign({}, last, { context })),
    take: (event) => (last = transition(last, event, scope)),
    cancel: (id) => scope.defer(() => system.scheduler.cancel(self, id))
  })
  withQueue(self, queue, () => {
    if (typeof first === "function") queue.begin(() => (last = first()))
    else queue.take(first)
  })
  return last
}

const queued = new WeakSet<AnyStateMachine>()

/** Gives a machine its queue, if it uses one, and all machines that its `provide` makes. */
export const addQueue = (machine: AnyStateMachine): AnyStateMachine => {
  if (queued.has(machine) || !usesQueue(machine)) return machine
  queued.add(machine)
  const transition: AnyStateMachine["transition"] = machine.transition.bind(machine)
  const initial: AnyStateMachine["getInitialSnapshot"] = machine.getInitialSnapshot.bind(machine)
  const provide: AnyStateMachine["provide"] = machine.provide.bind(machine)
  return Object.assign(machine, {
    transition: (snapshot: AnyMachineSnapshot, event: EventObject, scope: AnyActorScope) =>
      event.type === "xstate.stop" ? transition(snapshot, event, scope) : run(transition, scope, snapshot, event),
    getInitialSnapshot: (scope: AnyActorScope, input: unknown) =>
      run(transition, scope, undefined, () => initial(scope, input)),
    provide: (implementations: object) => addQueue(provide(implementations))
  })
}
