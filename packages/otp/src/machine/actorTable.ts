/**
 * The XState actors that run in processes.
 *
 * Owns: for each of these actors, the object that hosts it; for each actor system, the process of its root actor.
 */
import type { Actor, AnyActorLogic, AnyActorRef, AnyActorScope, EventObject } from "xstate"
import type { Cell } from "../kernel/index.ts"
import type { Pid } from "../core/index.ts"
import type { RunningActor } from "./actorProcess.ts"

/** Any actor system. XState does not export its name for this type. */
export type AnyActorSystem = AnyActorRef["system"]

export type AnyActor = Actor<AnyActorLogic>

/** What hosts an actor. */
export interface ActorHost extends RunningActor {
  readonly parent: ActorHost | undefined
  readonly cell: Cell | undefined
  /** The process of the nearest ancestor that has one. */
  readonly above: Cell | undefined
  /** Whether its last event was refused (ATREE6). */
  readonly isQuiet: boolean
  /** What XState passes to the logic. */
  scope: AnyActorScope | undefined
  /** The sender of the event that is taken from a mailbox. */
  sender: ActorHost | undefined
  readonly start: () => void
  readonly sent: (event: EventObject) => void
  /** Decides about an event that XState is about to pass; returns whether the actor takes it now. */
  readonly arrives: (event: EventObject, source: ActorHost | undefined) => boolean
  /** Returns the snapshot after an event; the same one if the event is refused. */
  readonly transition: (snapshot: object, event: EventObject, scope: AnyActorScope) => object
}

const actors = new WeakMap<object, ActorHost>()
const systems = new WeakMap<AnyActorSystem, Cell>()

export const setActorHost = (ref: AnyActor, host: ActorHost): void => void actors.set(ref, host)

/** What hosts an actor; `undefined` under a bare `createActor`. */
export const actorHost = (ref: object): ActorHost | undefined => actors.get(ref)

/** The actor's own process. */
export const processAt = (ref: object): Cell | undefined => actors.get(ref)?.cell

/** The actor's own process, or that of the nearest ancestor that has one. */
export const processOf = (ref: object): Cell | undefined => {
  const host = actors.get(ref)
  return host?.cell ?? host?.above
}

export const setHostOf = (system: AnyActorSystem, cell: Cell): void => void systems.set(system, cell)

/** The process that runs an actor system, if any. */
export const hostOf = (system: AnyActorSystem): Cell | undefined => systems.get(system)

/** The arguments of the function that makes an actor's effect or stream. */
export interface ActorArgs<I> {
  /** What the chart passes to the actor. */
  readonly input: I
  /** The reference of the actor, as in XState. */
  readonly self: AnyActorRef
  /** The actor system, as in XState. */
  readonly system: AnyActorSystem
  /** The process that runs the actor, if any. */
  readonly host: Pid<unknown> | undefined
}

/** The arguments for an actor. */
export const argsOf = <I>(input: I, self: AnyActorRef): ActorArgs<I> => ({
  input,
  self,
  system: self.system,
  host: hostOf(self.system)
})

const mark = Symbol("troupe.standsForProcess")

/** Marks logic whose work is a process: its actor has no process of its own. */
export const standingForProcess: object = { [mark]: true }

export const standsForProcess = (logic: AnyActorLogic): boolean => (logic as { readonly [mark]?: true })[mark] === true
