/**
 * The class of the actors that run in processes.
 *
 * It adds only the process to an actor, so that all these actors have one shape and XState's own code runs as fast on them
 * as on its own. `actorTree.ts` describes their behaviour. Actors of planned charts are made with the class of their
 * parent; actors that XState makes get the class in their constructor.
 */
import { Actor } from "xstate"
import type { AnyActorLogic, Snapshot } from "xstate"
import { itsProcess, processAbove, running, standsForProcess } from "./xstateActor.ts"
import type { Listeners, Node } from "./xstateActor.ts"
import { ActorProcess, reasonOf } from "./actorProcess.ts"
import { die, join } from "../kernel/index.ts"
import { guardSubscribers } from "./guardSubscribers.ts"

const Base = Actor as unknown as new (logic: AnyActorLogic, options: object) => Node

export class HostedActor extends Base {
  override _initState(stored: unknown): void {
    this.options.entered?.(this)
    super._initState(stored)
  }

  override subscribe(...listeners: Listeners): unknown {
    return super.subscribe(guardSubscribers(this, listeners))
  }

  override start(): unknown {
    const above = processAbove(this)
    if (above === undefined || this._processingStatus === running) return super.start()
    if (above.dead) return this
    const { kernel, behaviour } = above
    if (standsForProcess(this.logic) || !(behaviour instanceof ActorProcess)) return super.start()
    const { machine }: Snapshot<unknown> & { readonly machine?: unknown } = this.getSnapshot()
    const kind = machine === undefined ? "actor" : "machine"
    const cell = kernel.make(new ActorProcess(kind, this, behaviour.tree, above, above), above, labelOf(this, kind))
    cell.begun = true
    this[itsProcess] = cell
    join(above, cell)
    const before = kernel.current
    kernel.current = cell
    try {
      return super.start()
    } finally {
      kernel.current = before
    }
  }

  override _stopProcedure(): unknown {
    const stopped = super._stopProcedure()
    const cell = this[itsProcess]
    if (cell !== undefined && !cell.dead && this._parent !== undefined) {
      die(cell, reasonOf(this.getSnapshot()), "signal")
    }
    return stopped
  }
}

/** The id of an actor; if XState generated it, the name of its source. */
const labelOf = ({ id, sessionId, src }: Node, kind: string): string => {
  const madeUp = id === sessionId || /^\d+\./.test(id)
  if (!madeUp) return id
  return typeof src === "string" && !src.startsWith("xstate.invoke.") ? src : kind
}
