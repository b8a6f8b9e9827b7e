/**
 * The actors of one machine that runs in a process: the machine and its descendants.
 *
 * Owns the routing of events between the actors and their processes. XState creates, starts and ends the actors; their
 * class is in `hostedActor.ts`. This replaces three members of their system, listed in `xstateActor.ts`, and does not
 * affect `createActor` elsewhere.
 *
 * ATREE1. While a process of the tree has its turn, events pass between actors as in XState: at once. From anywhere else,
 *        such as a promise or a callback, an event goes into the mailbox of its actor's process. The same holds for every
 *        event sent to the machine's own reference.
 * ATREE2. An actor handles an event while `current` is its process. For a suspended one, events wait.
 * ATREE3. A dead process takes no event, sends none but the event of its end, and starts no actor.
 * ATREE4. An event that waits in a process is discarded if it comes from a child that the actor has stopped since.
 * ATREE5. An actor that represents a process has no process of its own: XState starts it and passes it events as usual.
 */
import type { AnyActorRef, EventObject } from "xstate"
import { itsProcess, nodeOf, processAbove, processAt, stopped } from "./xstateActor.ts"
import type { AnyActorSystem, Node, NodeSystem } from "./xstateActor.ts"
import { ActorProcess } from "./actorProcess.ts"
import { type Cell, MailboxTask, deliver } from "../kernel/index.ts"
import { HostedActor } from "./hostedActor.ts"

/** The process that runs an actor system, if any. */
export const hostOf = (system: AnyActorSystem): Cell | undefined => (system as unknown as NodeSystem)[itsProcess]

/** Whether an event reports the end of the actor that sent it. */
const notifiesEnd = ({ type }: EventObject): boolean =>
  type.startsWith("xstate.done.actor.") || type.startsWith("xstate.error.actor.")

/** Whether an actor is still a child of another, according to the parent's snapshot. */
const isChild = (node: Node, parent: Node): boolean => {
  const snapshot = parent.getSnapshot()
  if (!("children" in snapshot)) return true
  return (snapshot.children as Readonly<Record<string, Node>>)[node.id] === node
}

export class ActorTree {
  readonly #root: Node
  readonly #pass: NodeSystem["_relay"]

  /** Takes control of the system of a root actor that has no snapshot yet. */
  constructor(root: Node, cell: Cell, watched: boolean) {
    const { system } = root
    this.#root = root
    this.#pass = system._relay
    const { inspect } = system
    const notify = system._sendInspectionEvent
    root[itsProcess] = cell
    system[itsProcess] = cell
    system._relay = this.#relay
    const inspected: typeof notify = (event) => {
      adoptMade(event)
      notify(event)
    }
    system._sendInspectionEvent = watched ? inspected : adoptMade
    system.inspect = (observer) => {
      system._sendInspectionEvent = inspected
      return inspect(observer)
    }
  }

  /** Passes an event to an actor now. */
  take(cell: Cell, source: Node | undefined, target: Node, event: EventObject): void {
    if (target._processingStatus === stopped) return
    const { kernel } = cell
    const before = kernel.current
    kernel.current = cell
    try {
      this.#pass(source, target, event)
    } finally {
      kernel.current = before
    }
  }

  readonly #relay: NodeSystem["_relay"] = (source, target, event) => {
    const cell = target[itsProcess]
    if (cell === undefined) return this.#pass(source, target, event)
    const sent = source === undefined
    if (!sent && (cell.dead || (source[itsProcess]?.dead === true && !notifiesEnd(event)))) return
    const { behaviour } = cell.kernel.current ?? cell.kernel.outside
    const inside = behaviour instanceof ActorProcess && behaviour.tree === this
    if (inside && !cell.busy && !(sent && target === this.#root)) return this.take(cell, source, target, event)
    const late = (): void => {
      if (source?._parent !== target || isChild(source, target)) this.take(cell, source, target, event)
    }
    deliver(cell, sent ? event : new MailboxTask(late))
  }
}

/** Adopts each new actor; other inspection events are ignored. */
const adoptMade: NodeSystem["_sendInspectionEvent"] = ({ type, actorRef }) => {
  if (type === "@xstate.actor" && actorRef !== undefined) adopt(actorRef)
}

/** Gives an actor made by XState the class `HostedActor`. */
const adopt = (node: Node): void => {
  if (!(node instanceof HostedActor)) Object.setPrototypeOf(node, HostedActor.prototype)
}

/** Sends an event to an actor, in a turn of its process; at once under a bare `createActor`. */
export const sendToActor = (ref: AnyActorRef, event: EventObject, handled?: () => void): void => {
  const node = nodeOf(ref)
  const cell = processAt(ref) ?? processAbove(node)
  const send = (): void => {
    ref.send(event)
    handled?.()
  }
  if (cell === undefined || !(cell.behaviour instanceof ActorProcess)) return send()
  const { tree } = cell.behaviour
  const take = (): void => {
    tree.take(cell, undefined, node, event)
    handled?.()
  }
  deliver(cell, new MailboxTask(take))
}
