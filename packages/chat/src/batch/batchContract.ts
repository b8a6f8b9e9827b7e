/** The input, the events and the result of a batch of tool calls. */
import type * as Scope from "effect/Scope"
import type { SessionError } from "../errors/index.ts"
import type { Outlet } from "../events/index.ts"
import type { StepHalt } from "../record/index.ts"
import type { CallEnv, RunnableCall, ToolCallWatcher, ToolOutcome } from "../call/index.ts"
import type { BatchCalls, SuspendedCall } from "./batchCalls.ts"
import type { Message } from "../model/index.ts"
import type { RunOptions } from "../options/index.ts"
import type { CallPlace, Tool } from "../tool/index.ts"

/** Stores the intents and the outcomes of calls that write. */
export interface IntentJournal {
  /** An intent was noted; `done` is called when it is stored, or with the failure. */
  readonly intend: (done: (failure: SessionError | undefined) => void) => void
  /** A call that may have run is over; `goesOn` is whether others still run. */
  readonly over: (goesOn: boolean) => void
}

export interface ToolBatchInput {
  /** The calls of the message, which outlive the process of the chart. */
  readonly calls: BatchCalls
  /** The random id of the step or the batch; without one, idempotency keys contain `messageIndex` instead (KEY3). */
  readonly stepId?: string | undefined
  /** The place of the calls' message in the thread; default 0. */
  readonly messageIndex?: number | undefined
  /** The thread before the calls' message, for questions about the calls. Default: empty. */
  readonly messages?: ReadonlyArray<Message> | undefined
  readonly toolsByName: ReadonlyMap<string, Tool>
  readonly options: RunOptions & {
    /** A person decided about the calls: no question is asked, and the mode is ignored; the lists still apply. */
    readonly permitted?: boolean | undefined
  }
  readonly outlet: Outlet
  readonly watcher?: ToolCallWatcher | undefined
  /** Records the intents and outcomes of calls that write; without one no intents are stored. */
  readonly journal?: IntentJournal | undefined
}

/** Outcomes in call order, the halt that counts, and the suspended calls, which have no outcome yet. */
export interface ToolBatchResult {
  readonly outcomes: ReadonlyArray<ToolOutcome>
  readonly halt: StepHalt | undefined
  /** By their positions in the message, with the arguments that a person gave. */
  readonly suspended: ReadonlyArray<SuspendedCall & { readonly index: number; readonly given?: CallPlace["edited"] }>
  /** The error that prevented calls from starting; it ends the turn. */
  readonly error?: SessionError | undefined
}

/** The environment of a batch and its calls. */
export interface BatchEnv extends CallEnv {
  /** The batch that starts. */
  readonly batch: () => ToolBatchInput
  /** Sets the batch that runs, in which `call` finds calls. */
  readonly runs: (batch: Pick<CallEnv, "call">, scope: Scope.Scope) => void
}

/** The part that batches of one environment share, which run one after another. */
export class BatchLife implements Omit<BatchEnv, "batch"> {
  #running: Pick<CallEnv, "call"> | undefined
  scope: Scope.Scope | undefined

  runs(batch: Pick<CallEnv, "call">, scope: Scope.Scope): void {
    this.#running = batch
    this.scope = scope
  }

  call(index: number): RunnableCall {
    if (this.#running === undefined) throw new Error("a tool call runs without a batch")
    return this.#running.call(index)
  }
}
