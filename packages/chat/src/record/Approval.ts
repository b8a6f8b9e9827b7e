/**
 * Approvals: tool calls that wait for the decision of a person.
 *
 * @module
 */
import * as z from "zod"
import { anything, openRecord } from "../values/index.ts"
import { ToolCall } from "../model/index.ts"

/**
 * Why a call waits.
 *
 * - `permission`: `ask` of the permissions suspended it; its handler never ran
 * - `unknown_outcome`: the program ended while it ran, so whether it took effect is unknown
 */
export const ApprovalKind = z.enum(["permission", "unknown_outcome"])
export type ApprovalKind = z.infer<typeof ApprovalKind>

/**
 * A call that waits for a decision.
 *
 * **Units and defaults**: `askedAt` and `expiresAt` are milliseconds on the system's clock; without `expiresAt` the wait
 * has no limit.
 */
export const PendingApproval = z
  .object({
    toolCall: ToolCall,
    kind: ApprovalKind,
    reason: z.string(),
    askedAt: z.number(),
    expiresAt: z.number().optional()
  })
  .readonly()
export type PendingApproval = z.infer<typeof PendingApproval>

/**
 * The decision of a person about a call.
 *
 * - `allow`: it runs, with other arguments if given; a call with an unknown outcome runs again, under the same idempotency
 *   key
 * - `deny`: it does not run, and the model reads the reason
 * - `halt`: it does not run, the other calls that were allowed are not started, and the turn ends
 * - `result`: it does not run, and this is its result: the person did the task, or knows its result
 */
export const Decision = z.discriminatedUnion("type", [
  z.object({ type: z.literal("allow"), arguments: openRecord.optional() }).readonly(),
  z.object({ type: z.literal("deny"), reason: z.string().optional() }).readonly(),
  z.object({ type: z.literal("halt"), reason: z.string().optional() }).readonly(),
  z.object({ type: z.literal("result"), value: anything }).readonly()
])
export type Decision = z.infer<typeof Decision>
