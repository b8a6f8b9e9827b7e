/**
 * The members of an XState actor and its system that this package reads, overrides or replaces.
 *
 * XState types most of these members for internal use only. They are all listed here, to be checked against each new
 * version.
 */
import type { AnyActorLogic, AnyActorRef, EventObject, InspectionEvent, Observer, Snapshot } from "xstate"
import type { Cell } from "../kernel/index.ts"

/** Any actor system. XState does not export its name for this type. */
export type AnyActorSystem = AnyActorRef["system"]

/** The key of an actor's process, and of the root actor's process in a system. */
export const itsProcess = Symbol("troupe.process")

/** An actor that was started and has not ended. */
export const running = 1

/** An actor that has ended and takes no more events. */
export const stopped = 2

export interface Node {
  readonly id: string
  readonly sessionId: string
  readonly src: string | AnyActorLogic
  readonly system: NodeSystem
  readonly _parent?: Node
  readonly _processingStatus: 0 | typeof running | typeof stopped
  readonly mailbox: { readonly clear: () => void }
  readonly _send: (event: EventObject) => void
  readonly _stop: () => void
  readonly getSnapshot: () => Snapshot<unknown>
  readonly options: { readonly entered?: (node: Node) => void }
  logic: AnyActorLogic
  /** Overridden, so that a process can take control of a root actor. */
  _initState(stored: unknown): void
  /** Overridden, so that the process of an actor ends with it. */
  _stopProcedure(): unknown
  /** Overridden, so that the actor is started in its own process. */
  start(): unknown
  /** Overridden, so that an error of a subscriber is not rethrown on a timer. */
  subscribe(...listeners: Listeners): unknown
  /** Ours. */
  [itsProcess]?: Cell
}

export type Listeners = readonly [
  next?: Observer<unknown> | ((value: unknown) => void),
  error?: (error: unknown) => void,
  complete?: () => void
]

/** An actor system. Three of its members are replaced while a process hosts it; XState calls them through the system. */
export interface NodeSystem {
  /** Delivers every event to an actor; an event passed to `send` has no source. */
  _relay: (source: Node | undefined, target: Node, event: EventObject) => void
  /** Called when an inspector is added; before that, nothing is inspected. */
  inspect: (observer: Observer<InspectionEvent> | ((event: InspectionEvent) => void)) => unknown
  /** Called with `@xstate.actor` for each new actor, before its first snapshot exists. */
  _sendInspectionEvent: (event: { readonly type: InspectionEvent["type"]; readonly actorRef?: Node }) => void
  /** Ours: the process of the root actor. */
  [itsProcess]?: Cell
}

/** The same actor, with the members above. */
export const nodeOf = (ref: AnyActorRef): Node => ref as unknown as Node

/** The actor's own process. */
export const processAt = (ref: AnyActorRef): Cell | undefined => nodeOf(ref)[itsProcess]

/** The process of the nearest ancestor that has one. */
export const processAbove = (node: Node): Cell | undefined => {
  const { _parent: parent } = node
  return parent === undefined ? undefined : (parent[itsProcess] ?? processAbove(parent))
}

const mark = Symbol("troupe.standsForProcess")

/** Marks logic whose work is a process: its actor has no process of its own. */
export const standingForProcess: object = { [mark]: true }

export const standsForProcess = (logic: AnyActorLogic): boolean => (logic as { readonly [mark]?: true })[mark] === true
