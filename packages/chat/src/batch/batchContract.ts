/** What a batch of tool calls is started with, can be told, and comes to. */
import type { Pid } from "@troupe/otp"
import type { SessionError } from "../errors/index.ts"
import type { Event, Outlet } from "../events/index.ts"
import type { StepHalt } from "../record/index.ts"
import type { ToolCall } from "../model/index.ts"
import type { CallCommand, ToolCallInput, ToolCallWatcher, ToolOutcome } from "../call/index.ts"
import type { GateOptions } from "./batchGate.ts"
import type { Fifo } from "../async/index.ts"
import type { GateVerdict } from "../gate/index.ts"
import type { RunOptions } from "../options/index.ts"
import type { Tool } from "../tool/index.ts"

/**
 * What a batch has come to so far: its outcomes by place, those that hooks still look at apart, and the events nobody has read
 * yet.
 */
export interface BatchLedger {
  readonly finished: Array<ToolOutcome | undefined>
  readonly following: Array<ToolOutcome | undefined>
  readonly unread: Fifo<Event>
}

/** Where a batch notes the calls that write: `done` is called when the intent is stored, or with the failure. */
export interface IntentJournal {
  readonly intend: (position: number, done: (failure: SessionError | undefined) => void) => void
  readonly over: (position: number, outcome: ToolOutcome, goesOn: boolean) => void
}

/** What a batch is started with. */
export interface ToolBatchInput {
  readonly toolCalls: ReadonlyArray<ToolCall>
  /** The random id of the step, or of the batch; without one, `messageIndex` stands for it in idempotency keys (KEY3). */
  readonly stepId?: string | undefined
  /** The place in the thread of the message they stand in; default 0. */
  readonly messageIndex?: number | undefined
  readonly toolsByName: ReadonlyMap<string, Tool>
  readonly options: ToolCallInput["options"] &
    GateOptions &
    Partial<Pick<RunOptions, "maxConcurrency" | "schedule" | "toolSlots" | "signal">>
  readonly outlet: Outlet
  readonly watcher?: ToolCallWatcher | undefined
  /** What is kept of it by whoever outlives the batch. */
  readonly ledger?: BatchLedger | undefined
  /** The calls' places in their message, where these are others than their places here. */
  readonly positions?: ReadonlyArray<number> | undefined
  /** Outcomes that are known before the batch begins, by the calls' places here: those calls do not run. */
  readonly settled?: ReadonlyMap<number, ToolOutcome> | undefined
  /** The calls, by their places here, that have other arguments than the model wrote. */
  readonly edited?: ReadonlySet<number> | undefined
  /** The calls, by their places here, that may have run before. */
  readonly again?: ReadonlySet<number> | undefined
  /** Where intents and outcomes of calls that write are noted; without one there are no intents. */
  readonly journal?: IntentJournal | undefined
}

/** A call that waits for a person's decision, by its place in the batch. */
interface SuspendedCall {
  readonly index: number
  /** After how many milliseconds it is given up; never by default. */
  readonly expiresMs?: number | undefined
}

/** Outcomes in call order, the halt that counts, and the calls that wait for an answer and so have no outcome yet. */
export interface ToolBatchResult {
  readonly outcomes: ReadonlyArray<ToolOutcome>
  readonly halt: StepHalt | undefined
  readonly suspended: ReadonlyArray<SuspendedCall>
  /** What kept calls from starting, which ends the turn. */
  readonly error?: SessionError | undefined
}

/** What a batch can be told. */
export type ToolBatchEvent =
  | CallCommand
  | { readonly type: "batch.cancel" }
  | { readonly type: "batch.exhausted" }
  | { readonly type: "batch.gated"; readonly verdicts: ReadonlyArray<GateVerdict> }
  | { readonly type: "batch.followed"; readonly index: number; readonly outcome: ToolOutcome }
  | { readonly type: "batch.slot" }
  | { readonly type: "batch.intended"; readonly index: number; readonly failure: SessionError | undefined }
  | { readonly type: "process.exit"; readonly from: Pid; readonly reason: unknown }
