/**
 * The waits of background tasks for a person.
 *
 * Owns: nothing. The record of a chat has the waits of its tasks, and a `TaskRun` has the timer of the end of its wait.
 *
 * BG10. A task whose sub-agent waits for a person waits too: its deadline stands still, and its chat may be unloaded. When all of its
 *       waits are decided, and the store has that, it goes on with the decisions, also in another program. With `suspendedTtlMs`
 *       a task that waits longer ends `timed_out`.
 */
import { inBackground } from "../async/index.ts"
import type { BackgroundTask, ChildWait } from "../record/index.ts"
import { type Reported, reportWait, type ReportHome } from "./taskReport.ts"

/** The functions that waits need from the tasks of a Troupe. */
export interface TaskWaitsHome extends ReportHome {
  /** How long a task may wait for a person; `undefined` is no limit. */
  readonly suspendedTtlMs: number | undefined
}

/** A task that waits. */
interface Waiting extends Reported {
  /** Called when the decision did not come in time. */
  readonly expired: () => void
}

/** The wait of a task that begins to wait now. */
export const limited = (wait: ChildWait, { clock, suspendedTtlMs }: TaskWaitsHome): ChildWait => {
  if (suspendedTtlMs === undefined) return wait
  const expiresAt = Math.floor(clock.now() + suspendedTtlMs)
  return { ...wait, asks: wait.asks.map((ask) => ({ ...ask, expiresAt })) }
}

/** Has the record of the chat say what the task waits for. */
export const noteWait = (waiting: Waiting, home: TaskWaitsHome): void => {
  home.clock.clearTimeout(waiting.run.look)
  void reportWait(waiting, home, () => expireWait(waiting, home))
}

/** The store has this task of the chat: what it lacks is noted, and the wait has its limit. */
export const awaitDecision = (waiting: Waiting, home: TaskWaitsHome, stored: BackgroundTask): void =>
  waiting.run.isNoted(stored) ? expireWait(waiting, home) : noteWait(waiting, home)

/** Ends a task that waits for too long. */
const expireWait = ({ run, hasTask, expired }: Waiting, { clock }: TaskWaitsHome): void => {
  const expiresAt = run.wait?.asks[0]?.expiresAt
  if (expiresAt === undefined || !hasTask()) return
  clock.clearTimeout(run.look)
  const due = (): void => {
    const waits = run.end === undefined && run.wait?.asks[0]?.expiresAt === expiresAt
    if (waits && hasTask()) expired()
  }
  run.look = inBackground(clock, due, Math.max(0, expiresAt - clock.now()))
}
