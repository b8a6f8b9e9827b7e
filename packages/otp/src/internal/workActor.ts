/**
 * The snapshots of actors whose work is one fiber or one process.
 *
 * WORK1. Such an actor is `active` until its work ends or it is stopped, and changes no more after that.
 */
import type { AnyActorRef } from "xstate"
import { effectDone, effectFailed } from "./effectActor.ts"
import type { AnyActorSystem } from "./machineHost.ts"
import { hostOf } from "./machineHost.ts"
import type { Cell } from "./cell.ts"
import { processDone, processFailed } from "./processActor.ts"

/** An event of such an actor. */
export interface WorkEvent {
  readonly type: string
  readonly [key: string]: unknown
}

interface WorkSnapshot {
  readonly status: string
  readonly input: unknown
}

/** The first snapshot. */
export const beginning = (input: unknown) => ({ status: "active", output: undefined, error: undefined, input }) as const

/** What the work of an actor is made from. */
export const argsOf = <I>(
  snapshot: WorkSnapshot,
  self: AnyActorRef
): {
  readonly input: I
  readonly self: AnyActorRef
  readonly system: AnyActorSystem
  readonly host: Cell | undefined
} => ({
  input: snapshot.input as I,
  self,
  system: self.system,
  host: hostOf(self.system)
})

/** The snapshot after an event: done, failed, stopped, or as it was. */
export const afterEvent = <S extends { readonly status: string }>(
  snapshot: S,
  event: WorkEvent,
  stop: () => void
): S => {
  if (snapshot.status !== "active") return snapshot
  if (event.type === effectDone || event.type === processDone) {
    return { ...snapshot, status: "done", output: event["data"], input: undefined }
  }
  if (event.type === effectFailed || event.type === processFailed) {
    return { ...snapshot, status: "error", error: event["data"], input: undefined }
  }
  if (event.type !== "xstate.stop") return snapshot
  stop()
  return { ...snapshot, status: "stopped", input: undefined }
}
