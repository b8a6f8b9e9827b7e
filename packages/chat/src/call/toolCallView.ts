/** A tool call as a user interface shows it. */
import type { Pid } from "@troupe/otp"
import { mainArgument } from "../json/index.ts"
import type { Outcome, ToolCall } from "../model/index.ts"
import type { ToolCallEvent } from "./callEvents.ts"
import type { ToolOutcome } from "./toolOutcome.ts"

/** A tool call as a user interface shows it. Times are milliseconds on the system's clock. */
export interface ToolCallView {
  /** As the provider gave it; the address in `cancelToolCall` and `restartToolCall`. */
  readonly id: string
  /** As the model called it. */
  readonly name: string
  /** Its main argument, in one line of at most 80 characters; absent if no argument is a text, a number or a boolean. */
  readonly about?: string
  /**
   * The state of the call. `queued`: it waits to start. `gating`: the gate judges it. `running`: the handler runs. `cancelling`,
   * `restarting`: the handler was aborted, and the call waits for it; then the call is over, or runs again. `suspended`: it waits
   * for a person's answer. `done`: it has its `outcome`.
   */
  readonly status: "queued" | "gating" | "running" | "cancelling" | "restarting" | "suspended" | "done"
  /** The time when the call began to wait. */
  readonly queuedAt: number
  /** The start of the present run; `undefined` while queued, and for a call that never started. */
  readonly startedAt: number | undefined
  /** `undefined` until done, like `outcome`. */
  readonly endedAt: number | undefined
  /** How the call ended; `undefined` until done. */
  readonly outcome: Outcome | undefined
  /** The last `progress` value of the handler in the present run. */
  readonly progress: unknown
  /** The child of a running sub-agent that has `events`. */
  readonly child?: ChildView | undefined
  /** The process of a running call; it accepts `call.cancel` and `call.restart`. */
  readonly pid: Pid<ToolCallEvent> | undefined
}

/**
 * The child of a running call, a sub-agent with `events`: the text and the reasoning of its running request, and the calls of its
 * running step.
 */
export interface ChildView {
  readonly chat: string
  readonly agent: string
  readonly text: string
  readonly reasoning?: string | undefined
  readonly toolCalls: ReadonlyArray<ToolCallView>
}

/**
 * Notified when the state of a call changed; `control` takes commands about the calls while they run. `reported` is the id of the call
 * whose handler has reported progress.
 */
export interface ToolCallWatcher {
  readonly toolCallsChanged: (
    view: () => ReadonlyArray<ToolCallView>,
    control: CallControl | undefined,
    reported?: string
  ) => void
}

/** The field `about` of a call with these arguments. */
export const aboutOf = (args: ToolCall["arguments"]): Pick<ToolCallView, "about"> => {
  const about = mainArgument(args)
  return about === undefined ? {} : { about }
}

/** The view of calls that ended without a batch. */
export const viewOfEnded = (
  ended: ReadonlyArray<Pick<ToolOutcome, "toolCall" | "outcome">>,
  now: number
): (() => ReadonlyArray<ToolCallView>) => {
  const view = ended.map(({ toolCall: { id, name, arguments: args }, outcome }): ToolCallView => ({
    id,
    name,
    ...aboutOf(args),
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
 * A command to a batch about the call of this id, or without an id about all calls that are not over.
 *
 * - `calls.cancel`: cancels them; `done` is called when they are over
 * - `calls.restart`: runs the running calls again; `done` is called when each has begun again, or is over
 */
export interface CallCommand {
  readonly type: "calls.cancel" | "calls.restart"
  readonly toolCallId?: string | undefined
  readonly done: () => void
}

/** Takes commands about the calls that run. */
export type CallControl = (command: CallCommand) => void
