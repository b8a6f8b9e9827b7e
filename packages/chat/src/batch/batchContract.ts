/**
 * The input, the events and the result of a batch of tool calls, and the commands of its chart.
 *
 * BATCH10. A chart that is restored keeps the outcomes of its calls, their halts and the cancel. Calls that have not begun are
 *          judged again. The handler of a running call runs again, but not after the call was cancelled: then the call is
 *          `abandoned` at its drain deadline.
 */
import type * as Scope from "effect/Scope"
import type { SessionError } from "../errors/index.ts"
import type { Outlet } from "../events/index.ts"
import type { StepHalt, ChildWait } from "../record/index.ts"
import type {
  CallEnv,
  RunnableCall,
  ToolCallWatcher,
  ToolOutcome,
  CallEnd,
  ToolCallEvent,
  ToolCallInput
} from "../call/index.ts"
import type { BatchCalls, SuspendedCall } from "./batchCalls.ts"
import type { Message } from "../model/index.ts"
import type { RunOptions } from "../options/index.ts"
import type { CallPlace, Tool } from "../tool/index.ts"
import type { Pid } from "@troupe/otp"
import type { Held } from "../values/index.ts"

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

/** The end of a call's chart, or the reason why its process died before. */
export type EndOfCall = CallEnd | { readonly type: "died"; readonly reason: Held<unknown> }

/**
 * A call that has begun, as a chart holds it: whether it was cancelled while it ran, the end of its chart, its outcome before the
 * hooks after it, its outcome, its place in the order of halts, what its sub-agent waits for, and why its outcome is unknown.
 */
export interface CallState {
  readonly cancelled?: boolean | undefined
  readonly end?: EndOfCall | undefined
  readonly following?: Held<ToolOutcome> | undefined
  readonly outcome?: Held<ToolOutcome> | undefined
  readonly halted?: number | undefined
  readonly child?: ChildWait | undefined
  readonly unknown?: string | undefined
}

/** The calls that have begun, or are over, by their positions; `null` for another call. */
export type CallStates = ReadonlyArray<CallState | null>

/**
 * The events that the actor `calls` sends.
 *
 * - `calls.ready`: it waits for `begin`
 * - `call.begin`: a call starts
 * - `call.command`: the command is for the chart of a running call
 * - `call.changed`: the state of a call
 * - `calls.exhausted`: every call is over, and the reader has read past the last event
 */
export type CallsEvent =
  | { readonly type: "calls.ready" }
  | ({ readonly type: "call.begin"; readonly index: number } & ToolCallInput)
  | {
      readonly type: "call.command"
      readonly index: number
      readonly command: Extract<ToolCallEvent["type"], "call.cancel" | "call.restart">
      readonly state?: CallState | undefined
    }
  | { readonly type: "call.changed"; readonly index: number; readonly state: CallState }
  | { readonly type: "calls.exhausted"; readonly result: Held<ToolBatchResult> }

/**
 * The commands of the actor `calls`.
 *
 * - `begin`: starts the calls, or continues with those that a stored chart has
 * - `calls.cancel`: cancels all calls
 * - `call.ended`: the chart of a call has ended, or its process died before
 */
export type CallsCommand =
  | { readonly type: "begin"; readonly calls: CallStates; readonly cancelled: boolean }
  | { readonly type: "calls.cancel" }
  | { readonly type: "call.ended"; readonly index: number; readonly end: EndOfCall }

/** The actor that has the running calls. */
export interface BatchHost {
  /** The process of the chart; `undefined` under a bare `createActor`. */
  readonly pid: Pid | undefined
  readonly send: (event: CallsEvent) => void
  /** Runs a function in a turn of the process. */
  readonly turn: (run: () => void) => void
}
