/**
 * The snapshots of actors whose work is one fiber or one process.
 *
 * WORK1. Such an actor is `active` until its work ends or it is stopped; after that its snapshot does not change.
 */
export const effectDone = "xstate.effect.done"
export const effectFailed = "xstate.effect.failed"
export const processDone = "xstate.process.done"
export const processFailed = "xstate.process.failed"

/** An event of such an actor. */
export interface WorkEvent {
  readonly type: string
  readonly [key: string]: unknown
}

/** The first snapshot. */
export const beginning = (input: unknown) => ({ status: "active", output: undefined, error: undefined, input }) as const

/** The snapshot after an event: done, failed, stopped, or unchanged. */
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
