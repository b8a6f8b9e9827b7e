/**
 * A process that runs an XState actor with all below it.
 *
 * Owns one root actor for as long as the process lives; its children are processes of their own, in `actorTree.ts`.
 *
 * HOST1. Messages, delayed events, the ends of the effects, streams, promises and processes behind actors, and what is
 *        sent to an actor reference, reach an actor in a turn of its process or of one that belongs to the same machine, in
 *        the order they came to that process.
 * HOST2. The actor and its children are stopped when the process ends, whatever ended it, also where the machine itself
 *        failed and XState leaves the children running.
 * HOST3. An actor that is done ends the process `normal`, one that failed ends it with the error; no error is rethrown.
 */
import type { AnyActorLogic, InspectionEvent, Snapshot } from "xstate"
import type { Node } from "./xstateActor.ts"
import { ActorProcess, reasonOf } from "./actorProcess.ts"
import { ActorTree } from "./actorTree.ts"
import { type Cell, die } from "../kernel/index.ts"
import { planned } from "./chart/index.ts"
import { HostClock } from "./hostClock.ts"
import { HostedActor } from "./hostedActor.ts"

/** How a machine is started. */
export interface HostOptions {
  readonly input?: unknown
  readonly snapshot?: Snapshot<unknown>
  readonly id?: string
  readonly inspect?: (event: InspectionEvent) => void
  readonly logger?: (...args: Array<unknown>) => void
}

/** Makes an actor the process it runs in, and starts it; one that is done or fails right away ends it here. */
export const host = (cell: Cell, logic: AnyActorLogic, parent: Cell | undefined, options: HostOptions): void => {
  const plain = options.inspect === undefined && options.snapshot === undefined
  const actor = new HostedActor(plain ? planned(logic) : logic, {
    ...options,
    clock: new HostClock(cell),
    entered: (node: Node) => {
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
