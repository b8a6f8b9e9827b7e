/**
 * A process that runs an XState actor and its descendants.
 *
 * Owns one root actor while the process lives; the children are separate processes, in `actorTree.ts`.
 *
 * HOST1. An actor handles messages, delayed events, the ends of effects, streams, promises and processes, and events sent
 *        to its reference in a turn of its process, or of a process of the same machine, in the order in which they
 *        reached that process.
 * HOST2. When the process ends, for whatever reason, the actor and its children are stopped, even if the machine failed
 *        and XState leaves the children running.
 * HOST3. An actor that is done ends the process `normal`; one that failed ends it with the error. No error is rethrown.
 */
import type { AnyActorLogic, AnyActorRef, InspectionEvent, Snapshot } from "xstate"
import type { Node } from "./xstateActor.ts"
import { ActorProcess, reasonOf } from "./actorProcess.ts"
import { ActorTree } from "./actorTree.ts"
import { type Cell, deliver, die, MailboxTask } from "../kernel/index.ts"
import { planned, setEnvironment, setHost } from "./chart/index.ts"
import { HostClock } from "./hostClock.ts"
import { HostedActor } from "./hostedActor.ts"

/** How a machine is started. */
export interface HostOptions {
  readonly input?: unknown
  readonly snapshot?: Snapshot<unknown>
  readonly id?: string
  readonly inspect?: (event: InspectionEvent) => void
  readonly logger?: (...args: Array<unknown>) => void
  readonly env?: unknown
}

/** Runs an actor in a process and starts it; the process ends here if the actor is done or fails at once. */
export const host = (cell: Cell, logic: AnyActorLogic, parent: Cell | undefined, options: HostOptions): void => {
  const plain = options.inspect === undefined && options.snapshot === undefined
  const actor = new HostedActor(plain ? planned(logic) : logic, {
    ...options,
    clock: new HostClock(cell),
    entered: (node: Node) => {
      const system = node.system as unknown as AnyActorRef["system"]
      setEnvironment(system, options.env)
      setHost(system, { pid: cell, turn: (run) => deliver(cell, new MailboxTask(run)) })
      cell.behaviour = new ActorProcess(
        "machine",
        node,
        new ActorTree(node, cell, options.inspect !== undefined),
        parent
      )
    }
  })
  cell.begun = true
  const end = (): void => die(cell, reasonOf(actor.getSnapshot()), "own")
  actor.subscribe({ complete: end, error: end })
  actor.start()
}
