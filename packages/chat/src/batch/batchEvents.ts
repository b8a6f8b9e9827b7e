/**
 * The events between a chart whose calls run, and the actor that runs them.
 *
 * BATCH10. A chart that is restored keeps the outcomes of its calls, their halts and the cancel. Calls that have not begun are
 *          judged again. The handler of a running call runs again, but not after the call was cancelled: then the call is
 *          `abandoned` at its drain deadline.
 */
import type { Pid } from "@troupe/otp"
import type { CallEnd, ToolCallEvent, ToolCallInput, ToolOutcome } from "../call/index.ts"
import type { ChildWait } from "../record/index.ts"
import type { Held } from "../values/index.ts"
import type { ToolBatchResult } from "./batchContract.ts"

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
