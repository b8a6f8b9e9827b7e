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

/** Sees the text of a running step and the states of its calls, without an event for each. */
export interface StepWatcher extends ToolCallWatcher {
  readonly stepStarted: (collector: StreamCollector) => void
  /** What the running step's reply has said, if so many steps were over when it began. */
  readonly said?: (steps: number) => string
}

/** What a step's chart is started with. */
export interface StepInput {
  readonly engine: Engine
  readonly thread: Thread
  readonly options: RunOptions
  readonly outlet: Outlet
  readonly watcher?: StepWatcher | undefined
  /** What the model is told behind the thread, this once. */
  readonly aside?: ReadonlyArray<Message> | undefined
  /** Where intents and outcomes of calls that write are noted. */
  readonly journal?: Journal | undefined
  /** The mode that calls are judged by, and may set, where it outlives the step. */
  readonly permissionMode?: PermissionMode | undefined
  /** The open step of the thread, for a step that goes on with its calls (STEP6). */
  readonly open?: OpenStep | undefined
}

/** A step's result, or why it never began. */
export type StepOutput =
  | { readonly type: "completed"; readonly result: StepResult; readonly open?: OpenStep | undefined }
  | { readonly type: "refused"; readonly error: PreflightError }

/** What a step's snapshot holds. */
export interface StepContext extends StepInput {
  /** A random id; of a step that goes on, the stored one, if its record has one (KEY2, KEY3). */
  readonly id: string | undefined
  readonly permissionMode: PermissionMode
  readonly collector: StreamCollector
  readonly outcomes: ReadonlyArray<ToolOutcome>
  /** What the running batch has finished, and said; its process may die, this stays. */
  readonly ledger: BatchLedger
  /** What the calls of an open step go on with. */
  readonly going: GoingOn | undefined
  /** The calls without an outcome, by their place in the batch. */
  readonly left: ReadonlyMap<number, OpenCall>
  readonly halt: StepHalt | undefined
  /** What goes wrong in the step itself, and is said by an event of its own. */
  readonly error: unknown
  readonly refusal: PreflightError | undefined
  readonly result: StepResult | undefined
  /** What is open after it. */
  readonly stillOpen: OpenStep | undefined
}
