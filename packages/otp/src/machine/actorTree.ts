/**
 * The actors of one hosted machine: the machine, and whatever it and those below it invoke or spawn.
 *
 * Owns the way of events between them and the processes they are. XState creates, starts and ends the actors; they are of
 * the class in `hostedActor.ts`, and this puts itself in three places of their system, listed in `xstateActor.ts`. It leaves
 * `createActor` elsewhere as it is.
 *
 * ATREE1. While it is the turn of one process of the tree, events go from actor to actor as under XState: at once. From
 *        anywhere else, a promise or a callback too, an event is put into the process of the actor it is for, as is
 *        whatever is sent to the machine's own reference.
 * ATREE2. An actor takes an event while `current` is its process. A suspended one takes none: its events wait.
 * ATREE3. A dead process takes no event, and none comes of it but that of its end. One that is dead starts no actor.
 * TREE4. What waits in a process for an actor is dropped where it comes from one below that the actor has stopped since.
 * TREE5. An actor that stands for a process has none of its own: it is started, and takes events, as XState has it.
 */
import type { AnyActorRef, EventObject } from "xstate"
import { itsProcess, nodeOf, processAbove, processAt, stopped } from "./xstateActor.ts"
import type { AnyActorSystem, Node, NodeSystem } from "./xstateActor.ts"
import { ActorProcess } from "./actorProcess.ts"
import { type Cell, MailboxTask, deliver } from "../kernel/index.ts"
import { HostedActor } from "./hostedActor.ts"

/** The process that hosts an actor system, if one does. */
export const hostOf = (system: AnyActorSystem): Cell | undefined => (system as unknown as NodeSystem)[itsProcess]

/** Whether an event tells of the end of the actor it comes from. */
const notifiesEnd = ({ type }: EventObject): boolean =>
  type.startsWith("xstate.done.actor.") || type.startsWith("xstate.error.actor.")

/** Whether an actor still has another one below it, as far as its snapshot tells. */
const isChild = (node: Node, parent: Node): boolean => {
  const snapshot = parent.getSnapshot()
  if (!("children" in snapshot)) return true
  return (snapshot.children as Readonly<Record<string, Node>>)[node.id] === node
}

export class ActorTree {
  readonly #root: Node
  readonly #pass: NodeSystem["_relay"]

  /** Takes over the system of a root actor that has no snapshot yet. */
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

  /** Has an actor take an event, now. */
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

/** Adopts an actor that is being made, of all that XState tells to inspectors. */
const adoptMade: NodeSystem["_sendInspectionEvent"] = ({ type, actorRef }) => {
  if (type === "@xstate.actor" && actorRef !== undefined) adopt(actorRef)
}

/** Has an actor that XState makes be of the class of those a process hosts. */
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
