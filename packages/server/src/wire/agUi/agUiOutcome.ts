/**
 * The end of an AG-UI run: its outcome, its interrupts and its usage.
 *
 * AGUI3. A client gets only the forms that its version of the protocol has. A client that declares no version gets those of
 *        0.0.59.
 */
import type { ChatResult } from "@troupe/chat/chats"
import { Usage } from "@troupe/chat/messages"
import type { PendingApproval } from "@troupe/chat/tools"
import { isAnswered } from "../index.ts"

/** What is read of a turn's result. */
export type AgUiResult = Pick<
  ChatResult,
  "haltedReason" | "metadata" | "pendingQuestion" | "pendingApprovals" | "pendingToolCalls" | "steps"
>

/** Whether a client that declares this version understands the forms of 1.0 (AGUI3). */
export const isCurrentVersion = (declared: string | null | undefined): boolean =>
  typeof declared === "string" && /^[1-9]\d{0,3}\.\d{1,4}$/u.test(declared)

/** The fields of `RUN_FINISHED` that say how the run ended. */
export const outcomeOf = (
  { haltedReason, pendingQuestion, pendingApprovals = [], pendingToolCalls, steps }: AgUiResult,
  isCurrent: boolean
): object => {
  const usage = usageOf(steps)
  if (haltedReason === "cancelled") {
    return isCurrent ? { outcome: { type: "cancelled" }, ...usage } : { result: { haltedReason }, ...usage }
  }
  if (haltedReason === "interrupted")
    return { ...(isCurrent && { outcome: { type: "cancelled" } }), result: { haltedReason }, ...usage }
  const interrupts = interruptsOf(pendingApprovals, pendingQuestion)
  if (interrupts.length > 0) return { outcome: { type: "interrupt", interrupts }, ...usage }
  const pending = isCurrent ? pendingToolCalls.map(({ id }) => id) : []
  const outcome = { type: "success", ...(pending.length === 0 ? {} : { pendingToolCallIds: pending }) }
  const asIntended = haltedReason === "completed" || haltedReason === "manual_tool_calls"
  return { outcome, ...(asIntended ? {} : { result: { haltedReason } }), ...usage }
}

const counters = [
  "inputTokens",
  "outputTokens",
  "totalTokens",
  "reasoningTokens",
  "cachedInputTokens",
  "cacheWriteInputTokens"
] as const

/** The field `usage`: the tokens of each model; absent if none were reported. */
export const usageOf = (steps: AgUiResult["steps"]): { readonly usage?: ReadonlyArray<object> } => {
  const byModel = new Map<string | undefined, Usage.Usage>()
  for (const { response } of steps) {
    const { model, usage } = response
    byModel.set(model, Usage.add(byModel.get(model) ?? Usage.empty, usage))
  }
  const usage = Array.from(byModel, ([model, sum]) => ({
    ...(model === undefined ? {} : { model }),
    ...Object.fromEntries(
      counters.flatMap((name) => {
        const count = sum[name]
        return count !== undefined && Number.isSafeInteger(count) && count >= 0 ? [[name, count]] : []
      })
    )
  })).filter((one) => counters.some((name) => name in one))
  return usage.length === 0 ? {} : { usage }
}

const approvalSchema = {
  type: "object",
  properties: { approved: { type: "boolean" }, reason: { type: "string" } },
  required: ["approved"]
} as const

type Question = NonNullable<ChatResult["pendingQuestion"]>

const interruptOf = (waits: Pick<PendingApproval, "kind" | "toolCall">): string =>
  `${isAnswered(waits) ? "question" : "approval"}:${waits.toolCall.id}`

/** The interrupts that a run, or a conversation, waits for: decisions, and the answer to a question. */
export const interruptsOf = (
  approvals: ReadonlyArray<PendingApproval>,
  question: Question | undefined
): ReadonlyArray<object> => [
  ...approvals.map(({ toolCall, kind, reason, options, expiresAt }) => ({
    id: interruptOf({ toolCall, kind }),
    ...(isAnswered({ kind })
      ? {
          reason: "input_required",
          message: reason === "" ? `The result of ${toolCall.name}` : reason,
          toolCallId: toolCall.id,
          responseSchema: options?.["schema"] ?? { type: "string" },
          ...(options === undefined ? {} : { metadata: { options } })
        }
      : { reason: "tool_call", message: reason, toolCallId: toolCall.id, responseSchema: approvalSchema }),
    ...(expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt).toISOString() })
  })),
  ...(question === undefined
    ? []
    : [
        {
          id: `question:${question.toolCallId}`,
          reason: "input_required",
          message: question.question,
          toolCallId: question.toolCallId,
          responseSchema: { type: "string" },
          metadata: { options: question.options }
        }
      ])
]
