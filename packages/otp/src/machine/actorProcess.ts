/**
 * A process that is an XState actor: the one a machine was started as, or one that another actor invoked or spawned.
 *
 * ACTOR1. An actor below another has a process from its start to its end: a child of the other's, and linked to it. How
 *         the actor ends is how the process does: done is `normal`, an error that error, stopped is `shutdown`.
 * ACTOR2. Where the process is ended, so is its actor, after which nothing comes of it but one event: the one above hears
 *         of its end as it hears of its error, or, for `normal`, that it is done. It does not hear of it over the link.
 * ACTOR3. An actor and all below it are stopped when its process ends, whatever ended it, also where XState leaves them
 *         running.
 */
import type { AnyActorLogic, EventObject, Snapshot } from "xstate"
import { type ExitReason, isDown, isExit, isStop, ProcessExit } from "../core/index.ts"
import type { Node } from "./xstateActor.ts"
import { running, stopped } from "./xstateActor.ts"
import { type Behaviour, type Cell, die } from "../kernel/index.ts"
import type { Scope } from "./chart/index.ts"

const eventOf = (message: unknown): unknown => {
  if (isExit(message)) return { type: "process.exit", from: message.from, reason: message.reason }
  if (isDown(message)) return { type: "process.down", ref: message.ref, pid: message.pid, reason: message.reason }
  return message
}

const isEvent = (message: unknown): message is EventObject =>
  typeof message === "object" && message !== null && "type" in message && typeof message.type === "string"

const childrenOf = (
  snapshot: Snapshot<unknown> & { readonly children?: Readonly<Record<string, Node>> }
): ReadonlyArray<Node> =>
  typeof snapshot.children === "object" && snapshot.children !== null ? Object.values(snapshot.children) : []

/** What the end of an actor is as the end of its process. */
export const reasonOf = (snapshot: Snapshot<unknown>): ExitReason => {
  if (snapshot.status === "error") return snapshot.error
  return snapshot.status === "done" ? "normal" : "shutdown"
}

/** Runs the steps of the actors of one system. */
interface Steps {
  readonly take: (cell: Cell, source: Node | undefined, target: Node, event: EventObject) => void
}

export class ActorProcess implements Behaviour {
  readonly kind: "machine" | "actor"
  readonly node: Node
  readonly tree: Steps
  readonly parent: Cell | undefined
  /** The process of the actor above, which hears of its end from the actor. */
  readonly notifies: Cell | undefined

  constructor(kind: "machine" | "actor", node: Node, tree: Steps, parent: Cell | undefined, notifies?: Cell) {
    this.kind = kind
    this.node = node
    this.tree = tree
    this.parent = parent
    this.notifies = notifies
  }

  handle(cell: Cell, message: unknown): void {
    if (isStop(message)) return die(cell, message.reason, "own")
    if (isExit(message) && (message.from === (this.parent ?? cell) || message.from === cell.kernel.root)) {
      return die(cell, message.reason, "signal")
    }
    const event = eventOf(message)
    if (isEvent(event)) this.tree.take(cell, undefined, this.node, event)
    else cell.kernel.undelivered("unexpected", cell, message)
  }

  inspect(): unknown {
    return this.node.getSnapshot()
  }

  /** Of a chart its state and context, of other logic the snapshot. */
  outline(): unknown {
    const snapshot: Snapshot<unknown> & { readonly value?: unknown; readonly context?: unknown } =
      this.node.getSnapshot()
    const { value, context } = snapshot
    return value === undefined ? snapshot : { value, context }
  }

  /** Has the actor take a transition whose result is the given snapshot, so that its subscribers see it. */
  replace(snapshot: unknown): boolean {
    const { node } = this
    const { logic } = node
    node.logic = transitioning(logic, () => snapshot)
    try {
      node._send({ type: "process.replaced" })
    } finally {
      node.logic = logic
    }
    return true
  }

  ended(cell: Cell, reason: ExitReason): void {
    const { node, notifies } = this
    const snapshot = node.getSnapshot()
    if (notifies === undefined || notifies.dead) node._stop()
    else if (node._processingStatus === running) end(node, cell, reason)
    for (const child of childrenOf(snapshot)) if (child._processingStatus !== stopped) child._stop()
  }
}

const transitioning = (logic: AnyActorLogic, transition: AnyActorLogic["transition"]): AnyActorLogic =>
  Object.create(logic, { transition: { value: transition } }) as AnyActorLogic

/**
 * Has an actor end that XState would let run on.
 *
 * The event is taken at once, or, where the actor is at one, right after that. It releases what `xstate.stop` releases, and
 * what comes of it is an end of which XState tells the actor above.
 */
const end = (node: Node, cell: Cell, reason: ExitReason): void => {
  const { logic } = node
  const last =
    reason === "normal"
      ? { status: "done", output: undefined }
      : { status: "error", error: new ProcessExit({ pid: cell, reason }) }
  node.mailbox.clear()
  node.logic = transitioning(logic, (snapshot, _event, scope) => {
    node.logic = logic
    return { ...stop(logic, snapshot, scope as Scope, cell), ...last }
  })
  node._send({ type: "process.ended" })
}

/** What stopping makes of a snapshot; a fault on the way is reported. */
const stop = (logic: AnyActorLogic, snapshot: object, scope: Scope, cell: Cell): object => {
  try {
    return logic.transition(snapshot, { type: "xstate.stop" }, scope) as object
  } catch (error) {
    cell.kernel.report(cell, error)
    return snapshot
  }
}

/** The actor behind a pid of one. */
export const actorAt = (cell: Cell): ActorProcess => {
  if (cell.behaviour instanceof ActorProcess) return cell.behaviour
  throw new TypeError(`${cell.label} ${cell} is no machine or actor: pass what StateMachine.start or pidOf returned`)
}
