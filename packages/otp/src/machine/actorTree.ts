/**
 * The actors of one machine that XState runs in a process: the machine and its descendants.
 *
 * Owns: the inspector of the machine's actor system. XState calls it with each new actor and with each event on its way. It
 * hosts the actor (`hostedActor.ts`), and asks the actor about the event.
 *
 * ATREE7. The inspector that `start` was given sees an event once: when its actor takes it. One that was added to the
 *        system later sees an event that waits twice: when it was sent, and when it is taken.
 */
import type { InspectionEvent } from "xstate"
import { actorHost, type AnyActor } from "./actorTable.ts"
import { HostedActor } from "./hostedActor.ts"

type Inspector = (event: InspectionEvent) => void

export class ActorTree {
  readonly #entered: (root: HostedActor) => void
  readonly #inspector: Inspector | undefined

  /** `entered` is called with the root, before its first snapshot exists. */
  constructor(entered: (root: HostedActor) => void, inspector: Inspector | undefined) {
    this.#entered = entered
    this.#inspector = inspector
  }

  /** The inspector of the actor system. */
  readonly inspect = (inspected: InspectionEvent): void => {
    if (inspected.type === "@xstate.actor") this.#host(inspected.actorRef as AnyActor)
    const shown = shownOf(inspected)
    if (shown !== undefined) this.#inspector?.(shown)
  }

  #host(ref: AnyActor): void {
    const { parent } = ref.options
    const actor = new HostedActor(ref, this, parent === undefined ? undefined : actorHost(parent))
    if (parent === undefined) this.#entered(actor)
  }
}

/** What an inspector sees; `undefined` for a refused event. */
const shownOf = (inspected: InspectionEvent): InspectionEvent | undefined => {
  const { type, actorRef } = inspected
  if (type === "@xstate.snapshot") return actorHost(actorRef)?.isQuiet === true ? undefined : inspected
  if (type !== "@xstate.event" || inspected.event.type === "xstate.init") return inspected
  const { event, sourceRef } = inspected
  const target = actorHost(actorRef)
  if (target === undefined) return inspected
  const { sender } = target
  target.sender = undefined
  if (!target.arrives(event, sourceRef === undefined ? undefined : actorHost(sourceRef))) return undefined
  return sender === undefined ? inspected : { ...inspected, sourceRef: sender.ref }
}
