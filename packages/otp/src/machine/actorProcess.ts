/**
 * A process that runs one XState actor: the machine it was started with, or an actor that another one invoked or spawned.
 *
 * ACTOR1. A child actor has a process from its start to its end: a child of its parent's process, linked to it. The end
 *         of the actor ends the process: done gives `normal`, an error gives that error, stopped gives `shutdown`.
 * ACTOR2. When the process is ended, so is its actor, which then sends only one event. The parent actor receives the end
 *         as the actor's error or, for `normal`, as its done event. It gets no exit signal over the link.
 * ACTOR3. When the process ends, for whatever reason, the actor and its descendants are stopped, even if XState leaves
 *         them running.
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

/** The exit reason of a process, from the last snapshot of its actor. */
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
  /** The process of the parent actor, which is notified of the end by the actor. */
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

  /** The state and context of a chart; the snapshot of other logic. */
  outline(): unknown {
    const snapshot: Snapshot<unknown> & { readonly value?: unknown; readonly context?: unknown } =
      this.node.getSnapshot()
    const { value, context } = snapshot
    return value === undefined ? snapshot : { value, context }
  }

  /** Sends an event whose transition results in the given snapshot, so that subscribers see it. */
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
 * Ends an actor that XState would leave running.
 *
 * The event is handled at once or, if the actor is handling one, right after it. It releases the same things as
 * `xstate.stop` does, and results in an end of which XState notifies the parent actor.
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

/** The snapshot after `xstate.stop`; an error on the way is reported. */
const stop = (logic: AnyActorLogic, snapshot: object, scope: Scope, cell: Cell): object => {
  try {
    return logic.transition(snapshot, { type: "xstate.stop" }, scope) as object
  } catch (error) {
    cell.kernel.report(cell, error)
    return snapshot
  }
}

/** The actor of a pid. */
export const actorAt = (cell: Cell): ActorProcess => {
  if (cell.behaviour instanceof ActorProcess) return cell.behaviour
  throw new TypeError(`${cell.label} ${cell} is no machine or actor: pass what StateMachine.start or pidOf returned`)
}
