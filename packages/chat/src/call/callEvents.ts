/** The input, the events and the output of a tool call's chart. */
import type { Returned } from "../tool/index.ts"
import type { Held } from "../values/index.ts"

/** The input of the chart. */
export interface ToolCallInput {
  /** The call's place in its batch, by which the environment finds the call. Default 0. */
  readonly index?: number | undefined
  /** The tool's name, for the label of the process. */
  readonly name?: string | undefined
  /** How long a cancelled or restarted call waits for its handler, in milliseconds. */
  readonly drainMs: number
  /** The call has its slot already and does not wait for `call.start`. Default `false`. */
  readonly startAtOnce?: boolean | undefined
}

/**
 * How a handler's run settled.
 *
 * - `failed`: whether the result is an error. `byHandler`: whether the handler returned it, not a check
 * - `began`: whether the handler was called. `missed`: the deadline that had passed, in words
 * - `refused`: whether the handler ended with the refusal of its own `setPermissionMode`
 * - `interrupted`: whether the scope of the batch was closed before the handler had a result
 */
export interface SettledRun {
  readonly result: Held<Returned>
  readonly failed: boolean
  readonly byHandler: boolean
  readonly began: boolean
  readonly missed?: string | undefined
  readonly refused?: boolean | undefined
  readonly interrupted?: boolean | undefined
}

/**
 * The events of a tool call.
 *
 * - `call.start`: starts a queued call
 * - `call.cancel`: cancels the call, which waits for its handler until the drain deadline
 * - `call.restart`: ends the handler and runs it again; ignored by a call that is not running
 * - `handler.settled`, from the actor `handler`: how the run settled
 * - `deadline.passed`, from the actor `handler`: the missed deadline, in words, and whether the handler was called by then
 */
export type ToolCallEvent =
  | { readonly type: "call.start" }
  | { readonly type: "call.cancel" }
  | { readonly type: "call.restart" }
  | ({ readonly type: "handler.settled" } & SettledRun)
  | { readonly type: "deadline.passed"; readonly missed: string; readonly began: boolean }

/**
 * How a call ended.
 *
 * - `returned`: its handler, or a check, gave this result
 * - `timed_out`: a deadline passed; `late` if the result came afterwards
 * - `cancelled`: it was cancelled; `began` is whether its handler had been called
 * - `abandoned`: it was cancelled, and its handler did not end in time
 */
export type CallEnd =
  | ({ readonly type: "returned" } & Omit<SettledRun, "missed" | "failed" | "interrupted">)
  | { readonly type: "timed_out"; readonly missed: string; readonly began: boolean; readonly late: boolean }
  | { readonly type: "cancelled"; readonly began: boolean }
  | { readonly type: "abandoned" }
