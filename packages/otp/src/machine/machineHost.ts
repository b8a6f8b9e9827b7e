/**
 * A process in which XState runs an actor and its descendants.
 *
 * Owns one root actor while the process lives; the children are separate processes, in `hostedActor.ts`.
 *
 * HOST1. An actor handles messages, delayed events, the ends of effects, streams, promises and processes, and events sent
 *        to its reference in a turn of its process, or of a process of the same machine, in the order in which they
 *        reached that process.
 * HOST2. When the process ends, for whatever reason, the actor and its children are stopped, even if the machine failed
 *        and XState leaves the children running.
 * HOST3. An actor that is done ends the process `normal`; one that failed ends it with the error. No error is rethrown.
 * HOST4. XState's own transitions run the actor: it has the same states, contexts, actions and children, in the same
 *        order, as under `createActor`.
 */
import { type AnyActorLogic, createActor, type InspectionEvent, type Snapshot } from "xstate"
import { ActorProcess } from "./actorProcess.ts"
import { ActorTree } from "./actorTree.ts"
import { type Cell, deliver, MailboxTask } from "../kernel/index.ts"
import { setEnvironment, setHost } from "./chart/index.ts"
import { HostClock } from "./hostClock.ts"

/** How a machine is started. */
export interface HostOptions {
  /** The input of the machine. */
  readonly input?: unknown
  /** The stored state that the machine goes on from. Default: its initial state. */
  readonly snapshot?: Snapshot<unknown>
  /** The id of the root actor. Default: that of the machine. */
  readonly id?: string
  /** Called with the inspection events of XState. */
  readonly inspect: ((event: InspectionEvent) => void) | undefined
  /** Called with the arguments of XState's `log`. */
  readonly logger?: (...args: Array<unknown>) => void
  /** The environment of effects and callback actors. */
  readonly env?: unknown
}

/** Runs an actor in a process and starts it; the process ends here if the actor is done or fails at once. */
export const host = (
  cell: Cell,
  logic: AnyActorLogic,
  parent: Cell | undefined,
  { env, inspect, ...options }: HostOptions
): void => {
  const tree = new ActorTree((root) => {
    const { system } = root.ref
    setEnvironment(system, env)
    setHost(system, {
      pid: cell,
      now: () => cell.kernel.clock.now(),
      turn: (run) => deliver(cell, new MailboxTask(run))
    })
    root.enter(cell)
    cell.behaviour = new ActorProcess("machine", root, parent)
  }, inspect)
  const actor = createActor(logic, { ...options, clock: new HostClock(cell), inspect: tree.inspect })
  cell.begun = true
  actor.start()
}
