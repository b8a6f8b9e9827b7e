/**
 * The state of a step that its calls, results and events are computed from: its data with its live things; and the state without a step
 * that no store can save.
 *
 * UNSAVABLE1. When a commit fails and a message of the thread can never be stored, that message and all later ones are
 *             dropped. With it no later turn could store the thread.
 * UNSAVABLE2. When every message can be stored, nothing is dropped: the next turn stores the thread.
 */
import type { BatchCalls, CallStart, CallStates, ToolBatchResult } from "../batch/index.ts"
import type { ToolCallWatcher, ToolOutcome } from "../call/index.ts"
import type { Noted } from "../compaction/index.ts"
import type { Outlet, StreamCollector } from "../events/index.ts"
import type { PermissionMode } from "../gate/index.ts"
import type { Message, Response, Thread } from "../model/index.ts"
import type { RunOptions } from "../options/index.ts"
import type { OpenCall, OpenStep, StepHalt, StepResult } from "../record/index.ts"
import type { ReadReply } from "../request/index.ts"
import type { Engine } from "../tool/index.ts"
import { type Held, write } from "../values/index.ts"
import type { Journal } from "./journal.ts"
import type { Standing } from "./recovery.ts"

/**
 * How the last phase before the end came out.
 *
 * - `answered`: the reply has no calls to run
 * - `unknown_tool`: a call names no tool, and `onUnknownTool` is `"error"`
 * - `called`: the batch ended
 * - `request_died`: the process of the request died
 * - `cancelled`: the turn was to stop in phase A
 */
export type StepEnding =
  | { readonly type: "answered" | "unknown_tool" | "cancelled" }
  | { readonly type: "called"; readonly result: Held<ToolBatchResult> }
  | { readonly type: "request_died"; readonly cause: Held<unknown> }

/** The step that runs, as its chart has it: the reply after phase A, and how the last phase came out. */
export interface StepProgress extends Partial<ReadReply> {
  readonly ending?: StepEnding | undefined
  /** Its calls that have begun. */
  readonly calls?: CallStates | undefined
}

/** The data of a step, from which its live side can be made again. */
export interface StepData extends Noted {
  readonly thread: Thread
  /** Messages after the thread, for this request only. */
  readonly aside?: ReadonlyArray<Message> | undefined
  /** The open step of the thread, for a step that continues its calls (STEP6). */
  readonly open?: OpenStep | undefined
  /** The step so far; without one it begins. Its id is random; for a step that continues it is the stored one, if its record has one. */
  readonly step?: StepProgress | undefined
}

/** Watches the text of a running step and the states of its calls, without an event for each. */
export interface StepWatcher extends ToolCallWatcher {
  readonly stepStarted: (collector: StreamCollector) => void
  /** The step has ended: its result, and its calls that are still open. Its last events follow. */
  readonly stepEnded?: (result: StepResult, open: OpenStep | undefined) => void
}

/** The live things of a step. */
export interface StepLive {
  readonly engine: Engine
  readonly options: RunOptions
  readonly outlet: Outlet
  readonly watcher?: StepWatcher | undefined
  /** The permission mode of calls, which they may set, if it outlives the step. */
  readonly permissionMode?: PermissionMode | undefined
}

export interface RunningStep extends Omit<StepData, "step">, StepLive {
  readonly id: string | undefined
  readonly permissionMode: PermissionMode
  readonly collector: StreamCollector
  /** The reply, once the request has ended. */
  readonly reply: Response | undefined
  /** The journal for the intents and outcomes of calls that write. */
  readonly journal?: Journal | undefined
  /** The calls of the batch, once it began. */
  readonly calls: BatchCalls | undefined
  /** The calls of an open step that the step continues. */
  readonly going: ReadonlyArray<CallStart> | undefined
}

/** A step whose phases are over. */
export interface EndedStep extends RunningStep {
  readonly outcomes: ReadonlyArray<ToolOutcome>
  /** The calls without an outcome, by their positions. */
  readonly left: ReadonlyMap<number, OpenCall>
  readonly halt: StepHalt | undefined
  /** The error of the step itself, which has an event of its own. */
  readonly error: unknown
}

/** The reply of a step, as far as it is known. */
export const replyOf = ({
  reply,
  collector,
  options
}: Pick<RunningStep, "reply" | "collector" | "options">): Response => reply ?? collector.toResponse(options.requestId)

/** The changes that remove messages that cannot be stored; no changes if all can be stored. */
export const withoutUnsavable = ({
  thread,
  steps,
  open,
  pendingQuestion,
  pendingToolCalls
}: Standing & { readonly steps: ReadonlyArray<StepResult> }) => {
  const [found] = write({ thread }, false).found
  const [, list, at] = found?.field ?? []
  if (list !== "messages" || typeof at !== "number") return {}
  const messages = thread.messages.slice(0, at)
  const calls = new Set(
    messages.flatMap((message) => (message.role === "assistant" ? (message.toolCalls ?? []) : [])).map(({ id }) => id)
  )
  return {
    thread: { ...thread, messages },
    steps: steps.filter((step) => step.thread.messages.length <= at),
    open: open === undefined || open.at >= at ? undefined : open,
    pendingQuestion:
      pendingQuestion === undefined || calls.has(pendingQuestion.toolCallId) ? pendingQuestion : undefined,
    pendingToolCalls: pendingToolCalls.filter(({ id }) => calls.has(id))
  }
}
