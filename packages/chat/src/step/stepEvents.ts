/** The input, the events, the context and the output of a step's chart. */
import type { ToolBatchResult } from "../batch/index.ts"
import type { PreflightError } from "../errors/index.ts"
import type { EventsTaken } from "../events/index.ts"
import type { Message, Response, Thread } from "../model/index.ts"
import type { OpenStep, StepResult } from "../record/index.ts"
import type { Held } from "../values/index.ts"

/** What a step begins with. */
export interface StepStart {
  readonly thread: Thread
  /** Messages after the thread, for this request only. */
  readonly aside?: ReadonlyArray<Message> | undefined
  /** The open step of the thread, for a step that continues its calls (STEP6). */
  readonly open?: OpenStep | undefined
}

/**
 * How the last phase before the end came out.
 *
 * - `answered`: the reply has no calls to run
 * - `unknown_tool`: a call names no tool, and `onUnknownTool` is `"error"`
 * - `called`: the batch ended
 * - `request_died`, `batch_died`: a process died
 * - `cancelled`: the step was cancelled in phase A
 */
export type StepEnding =
  | { readonly type: "answered" | "unknown_tool" | "cancelled" }
  | { readonly type: "called"; readonly result: Held<ToolBatchResult> }
  | { readonly type: "request_died" | "batch_died"; readonly cause: Held<unknown> }

/** The data of a running step, from which its live side can be made again. */
export interface StepData extends StepStart {
  /** A random id; for a step that continues, the stored one, if its record has one (KEY2, KEY3). */
  readonly id: string | undefined
  /** The reply, once the request has ended. */
  readonly reply: Held<Response> | undefined
}

/** The context of a step's chart. */
export interface StepContext extends StepData {
  /** The adapter's name, for the label of the request's process. */
  readonly adapter: string
  /** How many calls the batch runs. */
  readonly count: number
  readonly ending: StepEnding
  readonly refusal: Held<PreflightError> | undefined
  readonly result: Held<StepResult> | undefined
  /** The open step after it. */
  readonly stillOpen: OpenStep | undefined
}

/**
 * The events of a step.
 *
 * - `step.cancel`: end early; the result is `cancelled`
 * - `step.began`, from its environment: its id, its adapter, and how many calls of an open step run
 * - `reply.read`, from its environment: the reply, how many of its calls run, and whether one names no tool
 * - `step.finished`, from its environment: the result
 * - `events.taken`: the reader has read past `step_completed`
 */
export type StepEvent =
  | { readonly type: "step.cancel" }
  | {
      readonly type: "step.began"
      readonly id: string | undefined
      readonly count: number
      readonly adapter: string
    }
  | {
      readonly type: "reply.read"
      readonly reply: Held<Response>
      readonly count: number
      readonly hasUnknownTool: boolean
    }
  | { readonly type: "step.finished"; readonly result: Held<StepResult>; readonly open: OpenStep | undefined }
  | EventsTaken

/** A step's result, or why it could not begin. */
export type StepOutput =
  | { readonly type: "completed"; readonly result: Held<StepResult>; readonly open?: OpenStep | undefined }
  | { readonly type: "refused"; readonly error: Held<PreflightError> }
