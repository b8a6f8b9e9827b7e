/** The state of a step that its calls, results and events are computed from: its data with its live things. */
import type { BatchLedger } from "../batch/index.ts"
import type { ToolCallWatcher, ToolOutcome } from "../call/index.ts"
import type { Outlet, StreamCollector } from "../events/index.ts"
import type { PermissionMode } from "../gate/index.ts"
import type { Response } from "../model/index.ts"
import type { RunOptions } from "../options/index.ts"
import type { OpenCall, OpenStep, StepHalt, StepResult } from "../record/index.ts"
import type { Engine } from "../tool/index.ts"
import type { GoingOn } from "./decisions.ts"
import type { Journal } from "./journal.ts"
import type { StepStart } from "./stepEvents.ts"

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
  /** The journal for the intents and outcomes of calls that write. */
  readonly journal?: Journal | undefined
  /** The permission mode of calls, which they may set, if it outlives the step. */
  readonly permissionMode?: PermissionMode | undefined
}

export interface RunningStep extends StepStart, StepLive {
  readonly id: string | undefined
  readonly permissionMode: PermissionMode
  readonly collector: StreamCollector
  /** The reply, once the request has ended. */
  readonly reply: Response | undefined
  /** The outcomes and events of the running batch; they survive its process. */
  readonly ledger: BatchLedger
  /** The calls that an open step continues with. */
  readonly going: GoingOn | undefined
}

/** A step whose phases are over. */
export interface EndedStep extends RunningStep {
  readonly outcomes: ReadonlyArray<ToolOutcome>
  /** The calls without an outcome, by position in the batch. */
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
