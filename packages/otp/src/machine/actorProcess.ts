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
import type { AnyActorLogic, Actor, EventObject, Snapshot } from "xstate"
import { type ExitReason, isDown, isExit, isStop } from "../core/index.ts"
import { type Behaviour, type Cell, die } from "../kernel/index.ts"
import { shownOfMachine } from "./chart/index.ts"

const eventOf = (message: unknown): unknown => {
  if (isExit(message)) return { type: "process.exit", from: message.from, reason: message.reason }
  if (isDown(message)) return { type: "process.down", ref: message.ref, pid: message.pid, reason: message.reason }
  return message
}

const isEvent = (message: unknown): message is EventObject =>
  typeof message === "object" && message !== null && "type" in message && typeof message.type === "string"

/** The exit reason of a process, from the last snapshot of its actor. */
export const reasonOf = (snapshot: Snapshot<unknown>): ExitReason => {
  if (snapshot.status === "error") return snapshot.error
  return snapshot.status === "done" ? "normal" : "shutdown"
}

/** An actor as its process sees it. */
export interface RunningActor {
  readonly ref: Actor<AnyActorLogic>
  /** The same object for all actors of one machine. */
  readonly tree: object
  /** Whether it has ended and takes no more events. */
  readonly isOver: boolean
  readonly children: ReadonlyArray<RunningActor>
  /** Handles an event now, in a turn of the process. */
  readonly take: (cell: Cell, event: EventObject) => void
  readonly replace: (snapshot: object) => void
  /** Ends the actor and notifies its parent actor. */
  readonly end: (cell: Cell, reason: ExitReason) => void
  readonly stop: () => void
}

type ShownSnapshot = Snapshot<unknown> & {
  readonly machine?: { readonly config: object }
  readonly value?: unknown
  readonly context?: unknown
}

export class ActorProcess implements Behaviour {
  readonly kind: "machine" | "actor"
  readonly actor: RunningActor
  readonly parent: Cell | undefined
  /** The process of the parent actor, which is notified of the end by the actor. */
  readonly notifies: Cell | undefined

  constructor(kind: "machine" | "actor", actor: RunningActor, parent: Cell | undefined, notifies?: Cell) {
    this.kind = kind
    this.actor = actor
    this.parent = parent
    this.notifies = notifies
  }

  handle(cell: Cell, message: unknown): void {
    if (isStop(message)) return die(cell, message.reason, "own")
    if (isExit(message) && (message.from === (this.parent ?? cell) || message.from === cell.kernel.root)) {
      return die(cell, message.reason, "signal")
    }
    const event = eventOf(message)
    if (isEvent(event)) this.actor.take(cell, event)
    else cell.kernel.undelivered("unexpected", cell, message)
  }

  inspect(): unknown {
    return this.actor.ref.getSnapshot()
  }

  /** The state and context of a chart; the snapshot of other logic. */
  outline(): unknown {
    const snapshot = this.#snapshot
    const { value, context } = snapshot
    return value === undefined ? snapshot : { value, context }
  }

  /** Of an actor that is no machine, reports show nothing if its parent machine has `formatStatus`. */
  shown(message: unknown): ReturnType<NonNullable<Behaviour["shown"]>> {
    const snapshot = this.#snapshot
    const { machine } = snapshot
    if (machine !== undefined) return shownOfMachine(machine, snapshot, message)
    const above = this.notifies?.behaviour
    return above instanceof ActorProcess && above.shown(undefined) !== undefined ? {} : undefined
  }

  get #snapshot(): ShownSnapshot {
    return this.actor.ref.getSnapshot()
  }

  replace(snapshot: unknown): boolean {
    this.actor.replace(snapshot as object)
    return true
  }

  ended(cell: Cell, reason: ExitReason): void {
    const { actor, notifies } = this
    const { children } = actor
    if (notifies === undefined || notifies.dead) actor.stop()
    else if (!actor.isOver) actor.end(cell, reason)
    for (const child of children) child.stop()
  }
}

/** The actor of a pid. */
export const actorAt = (cell: Cell): ActorProcess => {
  if (cell.behaviour instanceof ActorProcess) return cell.behaviour
  throw new TypeError(`${cell.label} ${cell} is no machine or actor: pass what StateMachine.start or pidOf returned`)
}
