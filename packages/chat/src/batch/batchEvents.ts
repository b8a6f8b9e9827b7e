/**
 * The events of the chart of a batch, and of the actor that runs its calls.
 *
 * BATCH10. A batch that is restored keeps its outcomes, its halts and its cancel. Calls that have not begun are judged
 *          again. The handler of a running call runs again, but not after the call was cancelled: then the call is
 *          `abandoned` at its drain deadline.
 */
import type { CallCommand, CallEnd, ToolCallInput, ToolOutcome } from "../call/index.ts"
import type { Held } from "../values/index.ts"
import type { ChildWait } from "../record/index.ts"
import type { Pid } from "@troupe/otp"
import type { ToolBatchResult } from "./batchContract.ts"

/**
 * A call of a batch: whether it began, whether it was cancelled while it ran, its outcome before the hooks after it,
 * its outcome, and what its sub-agent waits for.
 */
export interface CallState {
  readonly begun: boolean
  readonly cancelled?: boolean | undefined
  readonly following?: Held<ToolOutcome> | undefined
  readonly outcome?: Held<ToolOutcome> | undefined
  readonly child?: ChildWait | undefined
}

/**
 * The events that the actor `calls` sends.
 *
 * - `calls.ready`: it waits for `begin`; `calls.judged`: the gate has judged the calls
 * - `call.begin`: a call starts
 * - `call.cancel`, `call.restart`: a running call is to be cancelled, or to run again
 * - `call.follows`: the hooks after a call run, with its outcome so far
 * - `call.over`: a call has its outcome; `halts` is whether it halts the turn
 * - `call.asks`: the sub-agent of a call waits for a person
 * - `calls.draining`: a call halted, or the batch was cancelled; under `concurrent` a halt does not keep calls from
 *   starting
 * - `calls.exhausted`: every call is over, and the reader has read past the last event
 */
export type CallsEvent =
  | { readonly type: "calls.ready" }
  | { readonly type: "calls.judged" }
  | ({ readonly type: "call.begin"; readonly index: number } & ToolCallInput)
  | { readonly type: "call.cancel"; readonly index: number }
  | { readonly type: "call.restart"; readonly index: number }
  | { readonly type: "call.follows"; readonly index: number; readonly outcome: Held<ToolOutcome> }
  | { readonly type: "call.over"; readonly index: number; readonly outcome: Held<ToolOutcome>; readonly halts: boolean }
  | { readonly type: "call.asks"; readonly index: number; readonly child: ChildWait }
  | { readonly type: "calls.draining"; readonly cancelled: boolean }
  | { readonly type: "calls.exhausted"; readonly result: Held<ToolBatchResult> }

/**
 * The events of a batch.
 *
 * - `batch.cancel`: ends the batch; running calls are cancelled
 * - `calls.cancel`, `calls.restart`: commands about some calls
 */
export type BatchEvent = CallsEvent | CallCommand | { readonly type: "batch.cancel" }

/** A batch so far: its calls by position, the positions of halting calls in the order of their ends, and whether it was cancelled. */
export interface BatchState {
  readonly calls: ReadonlyArray<CallState>
  readonly halts: ReadonlyArray<number>
  readonly cancelled: boolean
}

/**
 * The commands of the actor `calls`.
 *
 * - `begin`: starts the calls, or continues with those that a stored batch has
 * - `batch.cancel`, `calls.cancel`, `calls.restart`: the commands of the batch's chart
 * - `call.ended`, `call.died`: the chart of a call has ended, or its process died before
 */
export type CallsCommand =
  | ({ readonly type: "begin" } & BatchState)
  | { readonly type: "batch.cancel" }
  | CallCommand
  | { readonly type: "call.ended"; readonly index: number; readonly end: CallEnd }
  | { readonly type: "call.died"; readonly index: number; readonly reason: Held<unknown> }

/** The actor that has the running calls. */
export interface BatchHost {
  /** The process of the batch; `undefined` under a bare `createActor`. */
  readonly pid: Pid<BatchEvent> | undefined
  readonly send: (event: CallsEvent) => void
  /** Runs a function in a turn of the process. */
  readonly turn: (run: () => void) => void
}
