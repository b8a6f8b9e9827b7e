/**
 * The outcome of one step.
 *
 * @module
 */
import * as z from "zod"
import { PendingApproval } from "./Approval.ts"
import { anything, QuestionOptions } from "../values/index.ts"
import { Response, Thread, ToolCall, ToolMessage, Usage } from "../model/index.ts"
import { Mode } from "./PermissionMode.ts"

const asked = { toolCallId: z.string(), question: z.string(), options: QuestionOptions }

/**
 * Why a batch of tool calls ends the loop.
 *
 * - `question`: a handler asked the user
 * - `tool_error`: the error policy halted
 * - `halt`: a handler halted with a reason of its own
 * - `cancelled`: the turn was cancelled; `question` is the question that a handler had asked before
 */
export const StepHalt = z.lazy(() =>
  z.discriminatedUnion("type", [
    z.object({ type: z.literal("question"), ...asked }).readonly(),
    z
      .object({
        type: z.literal("tool_error"),
        toolCallId: z.string(),
        error: anything,
        policyFault: z.unknown().exactOptional()
      })
      .readonly(),
    z.object({ type: z.literal("halt"), toolCallId: z.string(), reason: z.string(), result: anything }).readonly(),
    z.object({ type: z.literal("cancelled"), question: z.object(asked).readonly().optional() }).readonly()
  ])
)
export type StepHalt = z.infer<typeof StepHalt>

const stepResultSchema = z.lazy(() =>
  z
    .object({
      thread: Thread,
      response: Response,
      toolResults: z.array(ToolMessage).readonly(),
      done: z.boolean(),
      mode: z.enum(["auto", "manual"]),
      halt: StepHalt.optional(),
      manualToolCalls: z.array(ToolCall).readonly(),
      truncatedToolCalls: z.array(ToolCall).readonly(),
      pendingApprovals: z.array(PendingApproval).readonly().optional(),
      permissionMode: Mode.optional(),
      childUsage: Usage.optional(),
      error: z.unknown().exactOptional()
    })
    .readonly()
)

/**
 * The result of one model request and the tools it asked for.
 *
 * **Details**: `thread` is the input thread, the assistant message and the tool messages (in call order). `done` is true
 * after a final answer, an error or a halt. `manualToolCalls` are calls that the caller must answer; `truncatedToolCalls`
 * are calls of a reply that ended otherwise than with `tool_calls`: they are never executed. `pendingApprovals` are calls
 * that wait for a decision; they have no result in the thread. `permissionMode` is present when the calls set one.
 * `childUsage` is the usage of the sub-agents whose calls ended in the step.
 */
export interface StepResult extends z.infer<typeof stepResultSchema> {}
export const StepResult: z.ZodType<StepResult> = stepResultSchema
