/** A tool call as people want to see it. */
import type { Pid } from "@troupe/otp"
import type { Outcome } from "../model/index.ts"
import type { ToolCallEvent } from "./ToolCallMachine.ts"
import type { ToolOutcome } from "./toolOutcome.ts"

/**
 * A running call as people want to see it; times are milliseconds on the system's clock.
 *
 * - `queued`: it waits for its turn
 * - `gating`: it is its turn to be judged
 * - `running`: its handler runs
 * - `cancelling`, `restarting`: its handler was told to end, and is waited for; then the call is over, or runs again
 * - `suspended`: it waits for a person's answer
 * - `done`: it has its `outcome`
 */
export interface ToolCallView {
  readonly id: string
  readonly name: string
  readonly status: "queued" | "gating" | "running" | "cancelling" | "restarting" | "suspended" | "done"
  readonly queuedAt: number
  /** When its present run began; `undefined` while queued, and for a call that never started. */
  readonly startedAt: number | undefined
  /** `undefined` until done, as `outcome`. */
  readonly endedAt: number | undefined
  readonly outcome: Outcome | undefined
  /** What its handler said last with `progress`, in its present run. */
  readonly progress: unknown
  /** The process of a call that runs; it takes `call.cancel` and `call.restart`. */
  readonly pid: Pid<ToolCallEvent> | undefined
}

/** Told whenever a call's state changed; `batch` is the process that runs them, if one does. */
export interface ToolCallWatcher {
  readonly toolCallsChanged: (view: () => ReadonlyArray<ToolCallView>, batch: Pid<CallCommand> | undefined) => void
}

/** Calls that ended without a batch, as people want to see them. */
export const viewOfEnded = (
  ended: ReadonlyArray<Pick<ToolOutcome, "toolCall" | "outcome">>,
  now: number
): (() => ReadonlyArray<ToolCallView>) => {
  const view = ended.map(({ toolCall: { id, name }, outcome }): ToolCallView => ({
    id,
    name,
    status: "done",
    queuedAt: now,
    startedAt: undefined,
    endedAt: now,
    outcome,
    progress: undefined,
    pid: undefined
  }))
  return () => view
}

/**
 * What a batch is told of some of its calls: of that id, else of all that are not over.
 *
 * - `calls.cancel`: end; `done` is called when they are over
 * - `calls.restart`: run again; `done` is called when each of them has begun to, or is over
 */
export interface CallCommand {
  readonly type: "calls.cancel" | "calls.restart"
  readonly toolCallId?: string | undefined
  readonly done: () => void
}
