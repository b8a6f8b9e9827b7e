/**
 * An XState actor of a machine that runs in a process.
 *
 * Owns: the actor's process, and the decision whether the actor takes an event now. Does not own what the actor does:
 * XState creates it, starts it, runs its transitions and ends it. `actorMembers.ts` connects both.
 *
 * ATREE1. While a process of the tree has its turn, events pass between actors as in XState: at once. From anywhere else,
 *        such as a promise or a callback, an event goes into the mailbox of its actor's process. The same holds for every
 *        event sent to the machine's own reference.
 * ATREE2. An actor handles an event while `current` is its process. For a suspended one, events wait.
 * ATREE3. A dead process takes no event, sends none but the event of its end, and starts no actor.
 * ATREE4. An event that waits in a process is discarded if it comes from a child that the actor has stopped since.
 * ATREE6. A refused event changes no snapshot and is shown to no subscriber: it was discarded, or waits in a process.
 */
import type { AnyActorLogic, AnyActorRef, AnyActorScope, EventObject, Snapshot } from "xstate"
import { type ActorHost, actorHost, type AnyActor, processOf, setHostOf, standsForProcess } from "./actorTable.ts"
import { ActorProcess, reasonOf } from "./actorProcess.ts"
import { type Cell, deliver, die, join, MailboxTask } from "../kernel/index.ts"
import { type ExitReason, ProcessExit } from "../core/index.ts"
import { send, start, subscribe, takeOver } from "./actorMembers.ts"

type AnySnapshot = Snapshot<unknown> & { readonly children?: unknown; readonly machine?: unknown }

/** Whether an event reports the end of the actor that sent it. */
const notifiesEnd = ({ type }: EventObject): boolean =>
  type.startsWith("xstate.done.actor.") || type.startsWith("xstate.error.actor.")

const childrenIn = ({ children }: AnySnapshot): Readonly<Record<string, AnyActorRef>> | undefined =>
  typeof children === "object" && children !== null ? (children as Readonly<Record<string, AnyActorRef>>) : undefined

/** A snapshot that is made at an event of a process. */
interface Change {
  readonly event: EventObject
  readonly make: (snapshot: object, scope: AnyActorScope) => object
}

export class HostedActor implements ActorHost {
  readonly ref: AnyActor
  readonly tree: object
  readonly parent: ActorHost | undefined
  cell: Cell | undefined = undefined
  isOver = false
  isQuiet = false
  sender: ActorHost | undefined = undefined
  scope: AnyActorScope | undefined = undefined
  /** XState's logic. */
  readonly #logic: AnyActorLogic
  #entering: EventObject | undefined = undefined
  #refused: Array<EventObject> | undefined = undefined
  #change: Change | undefined = undefined

  /** Takes control of an actor that has no snapshot yet. */
  constructor(ref: AnyActor, tree: object, parent: ActorHost | undefined) {
    this.ref = ref
    this.tree = tree
    this.parent = parent
    this.#logic = ref.logic
    takeOver(ref, this)
    subscribe.call(ref, { complete: () => this.#over(), error: () => this.#over() })
  }

  /** Runs the root of its system in a process. */
  enter(cell: Cell): void {
    this.cell = cell
    setHostOf(this.ref.system, cell)
  }

  get above(): Cell | undefined {
    return this.parent?.cell ?? this.parent?.above
  }

  get children(): ReadonlyArray<ActorHost> {
    return Object.values(childrenIn(this.ref.getSnapshot()) ?? {}).flatMap((child) => actorHost(child) ?? [])
  }

  take(cell: Cell, event: EventObject, sender?: ActorHost): void {
    if (this.isOver) return
    this.sender = sender
    cell.kernel.as(cell, () => this.#enter(event))
  }

  arrives(event: EventObject, source: ActorHost | undefined): boolean {
    if (this.#entering === event) {
      this.#entering = undefined
      return true
    }
    const { cell } = this
    if (cell === undefined || source === undefined || this.isOver) return true
    const isUnheard = cell.dead || (source.cell?.dead === true && !notifiesEnd(event))
    if (!isUnheard && this.#isInside(cell)) return true
    this.#refused ??= []
    this.#refused.push(event)
    if (isUnheard) return false
    const late = (): void => {
      if (source.parent !== this || this.#has(source)) this.take(cell, event, source)
    }
    deliver(cell, new MailboxTask(late))
    return false
  }

  /** Replaces the snapshot, so that subscribers see it. */
  replace(snapshot: object): void {
    this.#become("process.replaced", () => snapshot)
  }

  /**
   * Ends an actor that XState would leave running.
   *
   * It releases the same things as `xstate.stop` does, and results in an end of which XState notifies the parent actor.
   */
  end(cell: Cell, reason: ExitReason): void {
    const last =
      reason === "normal"
        ? { status: "done", output: undefined }
        : { status: "error", error: new ProcessExit({ pid: cell, reason }) }
    this.#become("process.ended", (snapshot, scope) => Object.assign({}, this.#stopped(snapshot, scope, cell), last))
  }

  stop(): void {
    if (this.isOver) return
    if (this.parent === undefined) this.ref.stop()
    else this.parent.scope?.stopChild(this.ref)
  }

  transition(snapshot: object, event: EventObject, scope: AnyActorScope): object {
    const change = this.#change
    this.isQuiet = false
    if (change?.event === event) {
      this.#change = undefined
      return change.make(snapshot, scope)
    }
    const { cell } = this
    const run = (): object => this.#logic.transition(snapshot, event, scope) as object
    if (cell === undefined || event.type === "xstate.stop") return run()
    if (cell.dead || this.#isRefused(event)) {
      this.isQuiet = true
      return snapshot
    }
    return cell.kernel.as(cell, run)
  }

  #isRefused(event: EventObject): boolean {
    const at = this.#refused?.indexOf(event) ?? -1
    if (at < 0) return false
    this.#refused?.splice(at, 1)
    return true
  }

  /** Passes an event that `arrives` lets through. */
  #enter(event: EventObject): void {
    this.#entering = event
    send.call(this.ref, event)
  }

  #become(type: string, make: Change["make"]): void {
    const event = { type }
    this.#change = { event, make }
    this.#enter(event)
  }

  /** The snapshot after `xstate.stop`; an error on the way is reported. */
  #stopped(snapshot: object, scope: AnyActorScope, cell: Cell): object {
    try {
      return this.#logic.transition(snapshot, { type: "xstate.stop" }, scope) as object
    } catch (error) {
      cell.kernel.report(cell, error)
      return snapshot
    }
  }

  sent(event: EventObject): void {
    const { cell, parent } = this
    if (cell === undefined) return send.call(this.ref, event)
    if (parent !== undefined && this.#isInside(cell)) return this.take(cell, event)
    deliver(cell, event)
  }

  /** Whether a process of the tree has its turn, and this one may take an event. */
  #isInside({ kernel, busy }: Cell): boolean {
    const { behaviour } = kernel.current ?? kernel.outside
    return !busy && behaviour instanceof ActorProcess && behaviour.actor.tree === this.tree
  }

  /** Whether an actor is a child, according to the snapshot. */
  #has({ ref }: ActorHost): boolean {
    const children = childrenIn(this.ref.getSnapshot())
    return children === undefined || children[ref.id] === ref
  }

  /** Starts the actor in a process of its own. */
  start(): void {
    const { above, cell: own, ref } = this
    if (own?.dead === true || above?.dead === true) return
    if (own !== undefined || above === undefined || standsForProcess(this.#logic)) return void start.call(ref)
    const { kernel } = above
    const { machine }: AnySnapshot = ref.getSnapshot()
    const kind = machine === undefined ? "actor" : "machine"
    const cell = kernel.make(new ActorProcess(kind, this, above, above), above, labelOf(ref, kind))
    cell.begun = true
    this.cell = cell
    join(above, cell)
    kernel.as(cell, () => start.call(ref))
  }

  #over(): void {
    this.isOver = true
    const { cell, parent, ref } = this
    if (cell !== undefined) die(cell, reasonOf(ref.getSnapshot()), parent === undefined ? "own" : "signal")
  }
}

/** The id of an actor; if XState generated it, the name of its source. */
const labelOf = ({ id, sessionId, src }: AnyActorRef, kind: string): string => {
  const madeUp = id === sessionId || /^\d+\./.test(id)
  if (!madeUp) return id
  return typeof src === "string" && !src.startsWith("xstate.invoke.") ? src : kind
}

/** Sends an event to an actor, in a turn of its process; at once under a bare `createActor`. */
export const sendToActor = (ref: AnyActorRef, event: EventObject, handled?: () => void): void => {
  const actor = actorHost(ref)
  const cell = processOf(ref)
  if (actor === undefined || cell === undefined) {
    ref.send(event)
    handled?.()
    return
  }
  const take = (): void => {
    actor.take(cell, event)
    handled?.()
  }
  deliver(cell, new MailboxTask(take))
}
