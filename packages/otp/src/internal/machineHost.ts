/**
 * A process that runs an XState actor.
 *
 * Owns one root actor for as long as the process lives; its children belong to the actor. Talks to XState through its
 * public face only.
 *
 * HOST1. Messages, delayed events, and the ends of the effects, streams and processes behind actors reach the actor in a
 *        turn of the process, in the order they came; so does what is sent to the actor reference itself.
 * HOST2. The actor and its children are stopped when the process ends, whatever ended it, also where the machine itself
 *        failed and XState leaves the children running.
 * HOST3. An actor that is done ends the process `normal`, one that failed ends it with the error; no error is rethrown.
 */
import { createActor } from "xstate"
import type { Actor, AnyActorLogic, AnyActorRef, InspectionEvent, Snapshot } from "xstate"
import type { ExitReason } from "../ExitReason.ts"
import { isDown, isExit } from "../SystemMessage.ts"
import type { Behaviour, Cell } from "./cell.ts"
import { planned } from "./chart/chartLogic.ts"
import { die } from "./death.ts"
import { Chore } from "./chore.ts"
import { deliver } from "./delivery.ts"
import { guardSubscribers } from "./guardSubscribers.ts"
import { HostClock } from "./hostClock.ts"
import { isStop } from "./stopMessage.ts"

/** Any actor system. XState keeps its own name for this type to itself. */
export type AnyActorSystem = AnyActorRef["system"]

/** How a machine is started. */
export interface HostOptions {
  readonly input?: unknown
  readonly snapshot?: Snapshot<unknown>
  readonly id?: string
  readonly inspect?: (event: InspectionEvent) => void
  readonly logger?: (...args: Array<unknown>) => void
}

const hosts = new WeakMap<AnyActorSystem, Cell>()

/** The process that hosts an actor system, if one does. */
export const hostOf = (system: AnyActorSystem): Cell | undefined => hosts.get(system)

/** Sends an event to an actor, in a turn of its host; at once under a bare `createActor`. */
export const sendToActor = (ref: AnyActorRef, event: { readonly type: string }, handled?: () => void): void => {
  const host = hosts.get(ref.system)
  const send = (): void => {
    ref.send(event)
    handled?.()
  }
  if (host === undefined) send()
  else deliver(host, new Chore(send))
}

const eventOf = (message: unknown): unknown => {
  if (isExit(message)) return { type: "process.exit", from: message.from, reason: message.reason }
  if (isDown(message)) return { type: "process.down", ref: message.ref, pid: message.pid, reason: message.reason }
  return message
}

const isEvent = (message: unknown): message is { readonly type: string } =>
  typeof message === "object" && message !== null && "type" in message && typeof message.type === "string"

const childrenOf = (snapshot: object): ReadonlyArray<AnyActorRef> =>
  "children" in snapshot && typeof snapshot.children === "object" && snapshot.children !== null
    ? Object.values(snapshot.children as Record<string, AnyActorRef>)
    : []

const reasonOf = (snapshot: Snapshot<unknown>): ExitReason => {
  if (snapshot.status === "error") return snapshot.error
  return snapshot.status === "done" ? "normal" : "shutdown"
}

export class MachineHost implements Behaviour {
  readonly kind = "machine"
  readonly actor: Actor<AnyActorLogic>
  readonly parent: Cell | undefined
  readonly #handle: (event: { readonly type: string }) => void

  constructor(cell: Cell, logic: AnyActorLogic, parent: Cell | undefined, options: HostOptions) {
    this.parent = parent
    const plain = options.inspect === undefined && options.snapshot === undefined
    this.actor = createActor(plain ? planned(logic) : logic, { ...options, clock: new HostClock(cell) })
    this.#handle = this.actor.send.bind(this.actor)
    this.actor.send = (event) => deliver(cell, event)
    hosts.set(this.actor.system, cell)
  }

  /** Starts the actor; a machine that is done or fails right away ends its process here. */
  start(cell: Cell): void {
    cell.begun = true
    const end = (): void => die(cell, reasonOf(this.actor.getSnapshot()), "own")
    this.actor.subscribe({ complete: end, error: end })
    guardSubscribers(this.actor, (error) => cell.kernel.report(cell, error))
    cell.kernel.as(cell, () => this.actor.start())
  }

  handle(cell: Cell, message: unknown): void {
    if (isStop(message)) return die(cell, message.reason, "own")
    if (isExit(message) && (message.from === this.parent || message.from === cell.kernel.root)) {
      return die(cell, message.reason, "signal")
    }
    const event = eventOf(message)
    if (isEvent(event)) this.#handle(event)
    else cell.kernel.strayed("unexpected", cell, message)
  }

  inspect(): unknown {
    return this.actor.getSnapshot()
  }

  /** Of a chart its state and context, of other logic the snapshot. */
  outline(): unknown {
    const snapshot: Snapshot<unknown> & { readonly value?: unknown; readonly context?: unknown } =
      this.actor.getSnapshot()
    const { value, context } = snapshot
    return value === undefined ? snapshot : { value, context }
  }

  /** Has the actor take a transition whose result is the given snapshot, so that its subscribers see it. */
  replace(snapshot: unknown): boolean {
    const { logic } = this.actor
    this.actor.logic = Object.create(logic, { transition: { value: () => snapshot } }) as AnyActorLogic
    try {
      this.#handle({ type: "process.replaced" })
    } finally {
      this.actor.logic = logic
    }
    return true
  }

  ended(): void {
    const snapshot = this.actor.getSnapshot()
    this.actor.stop()
    for (const child of childrenOf(snapshot)) {
      if (child.getSnapshot().status === "active") child.send({ type: "xstate.stop" })
    }
  }
}

/** The host behind a pid of a machine. */
export const machineAt = (cell: Cell): MachineHost => {
  if (cell.behaviour instanceof MachineHost) return cell.behaviour
  throw new TypeError(`${cell.label} ${cell} hosts no machine: pass what StateMachine.start returned`)
}
