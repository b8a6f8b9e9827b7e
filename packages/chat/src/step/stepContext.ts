/** The state of one step. */

import type { PreflightError } from "../errors/index.ts"
import type { GoingOn } from "./decisions.ts"
import type { BatchLedger } from "../batch/index.ts"
import type { Journal } from "./journal.ts"
import type { Outlet, StreamCollector } from "../events/index.ts"
import type { PermissionMode } from "../gate/index.ts"
import type { RunOptions } from "../options/index.ts"
import type { ToolCallWatcher, ToolOutcome } from "../call/index.ts"
import type { Message, Thread } from "../model/index.ts"
import type { OpenCall, OpenStep, StepHalt, StepResult } from "../record/index.ts"
import type { Engine } from "../tool/index.ts"

/** Watches the text of a running step and the states of its calls, without an event for each. */
export interface StepWatcher extends ToolCallWatcher {
  readonly stepStarted: (collector: StreamCollector) => void
  /** The text of the running step's reply, if `steps` steps were over when it began. */
  readonly said?: (steps: number) => string
}

/** The input of a step's chart. */
export interface StepInput {
  readonly engine: Engine
  readonly thread: Thread
  readonly options: RunOptions
  readonly outlet: Outlet
  readonly watcher?: StepWatcher | undefined
  /** Messages after the thread, for this request only. */
  readonly aside?: ReadonlyArray<Message> | undefined
  /** The journal for the intents and outcomes of calls that write. */
  readonly journal?: Journal | undefined
  /** The permission mode of calls, which they may set, if it outlives the step. */
  readonly permissionMode?: PermissionMode | undefined
  /** The open step of the thread, for a step that continues its calls (STEP6). */
  readonly open?: OpenStep | undefined
}

/** A step's result, or why it could not begin. */
export type StepOutput =
  | { readonly type: "completed"; readonly result: StepResult; readonly open?: OpenStep | undefined }
  | { readonly type: "refused"; readonly error: PreflightError }

/** The context in a step's snapshot. */
export interface StepContext extends StepInput {
  /** A random id; for a step that continues, the stored one, if its record has one (KEY2, KEY3). */
  readonly id: string | undefined
  readonly permissionMode: PermissionMode
  readonly collector: StreamCollector
  readonly outcomes: ReadonlyArray<ToolOutcome>
  /** The outcomes and events of the running batch; they survive its process. */
  readonly ledger: BatchLedger
  /** The calls that an open step continues with. */
  readonly going: GoingOn | undefined
  /** The calls without an outcome, by position in the batch. */
  readonly left: ReadonlyMap<number, OpenCall>
  readonly halt: StepHalt | undefined
  /** The error of the step itself, which has an event of its own. */
  readonly error: unknown
  readonly refusal: PreflightError | undefined
  readonly result: StepResult | undefined
  /** The open step after it. */
  readonly stillOpen: OpenStep | undefined
}
