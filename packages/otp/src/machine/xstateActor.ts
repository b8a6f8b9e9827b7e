/**
 * What this house reads of an XState actor and of its system, and what it overrides and replaces.
 *
 * XState describes most of these members to its own files only. They are all listed here, so that a new version of it is
 * checked against this page.
 */
import type { AnyActorLogic, AnyActorRef, EventObject, InspectionEvent, Observer, Snapshot } from "xstate"
import type { Cell } from "../kernel/index.ts"

/** Any actor system. XState keeps its own name for this type to itself. */
export type AnyActorSystem = AnyActorRef["system"]

/** Where an actor keeps its process, and a system that of its root actor. */
export const itsProcess = Symbol("troupe.process")

/** An actor that was started and has not ended. */
export const running = 1

/** An actor that has ended, and takes no event any more. */
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
  /** Overridden, so that a process can take over a root actor. */
  _initState(stored: unknown): void
  /** Overridden, so that the process of an actor ends with it. */
  _stopProcedure(): unknown
  /** Overridden, so that the actor is started in a process of its own. */
  start(): unknown
  /** Overridden, so that a subscriber's fault is not rethrown on a timer. */
  subscribe(...listeners: Listeners): unknown
  /** Ours. */
  [itsProcess]?: Cell
}

export type Listeners = readonly [
  next?: Observer<unknown> | ((value: unknown) => void),
  error?: (error: unknown) => void,
  complete?: () => void
]

/** Whose three members are replaced while a process hosts it; XState calls them through the system. */
export interface NodeSystem {
  /** How every event gets to an actor: what `send` was given has no source. */
  _relay: (source: Node | undefined, target: Node, event: EventObject) => void
  /** Called where somebody begins to inspect: until then nobody is told of anything. */
  inspect: (observer: Observer<InspectionEvent> | ((event: InspectionEvent) => void)) => unknown
  /** Told of each actor that is made, before its first snapshot is, by `@xstate.actor`. */
  _sendInspectionEvent: (event: { readonly type: InspectionEvent["type"]; readonly actorRef?: Node }) => void
  /** Ours: the process of the root actor. */
  [itsProcess]?: Cell
}

/** The same actor, with the members above. */
export const nodeOf = (ref: AnyActorRef): Node => ref as unknown as Node

/** The process an actor has, of its own. */
export const processAt = (ref: AnyActorRef): Cell | undefined => nodeOf(ref)[itsProcess]

/** The process of the innermost actor around one that has a process. */
export const processAbove = (node: Node): Cell | undefined => {
  const { _parent: parent } = node
  return parent === undefined ? undefined : (parent[itsProcess] ?? processAbove(parent))
}

const mark = Symbol("troupe.standsForProcess")

/** A part of logic whose work is a process: its actor has none of its own. */
export const standingForProcess: object = { [mark]: true }

export const standsForProcess = (logic: AnyActorLogic): boolean => (logic as { readonly [mark]?: true })[mark] === true
