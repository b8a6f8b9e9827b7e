/** What a batch of tool calls is started with, can be told, and comes to. */
import type { Pid } from "@troupe/otp"
import type { SessionError } from "../errors/ChatError.ts"
import type { Event } from "../events/Event.ts"
import type { StepHalt } from "../record/StepResult.ts"
import type { Tool } from "../tool/Tool.ts"
import type { ToolCall } from "../model/ToolCall.ts"
import type { ToolCallInput } from "../call/ToolCallMachine.ts"
import type { GateOptions } from "./batchGate.ts"
import type { Fifo } from "../async/fifo.ts"
import type { GateVerdict } from "../gate/gate.ts"
import type { Journal } from "../step/journal.ts"
import type { Outlet } from "../events/outlet.ts"
import type { RunOptions } from "../options/resolveOptions.ts"
import type { ToolCallWatcher } from "../call/toolCallView.ts"
import type { ToolOutcome } from "../call/toolOutcome.ts"

/**
 * What a batch has come to so far: its outcomes by place, those that hooks still look at apart, and the events nobody has read
 * yet.
 */
export interface BatchLedger {
  readonly finished: Array<ToolOutcome | undefined>
  readonly following: Array<ToolOutcome | undefined>
  readonly unread: Fifo<Event>
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
  readonly journal?: Journal | undefined
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
