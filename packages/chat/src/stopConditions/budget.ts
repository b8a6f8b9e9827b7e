/**
 * Checks the budget of a turn.
 *
 * BUDG1. A request whose cost is not known uses up a budget of cost: `metadata.unpriced` names its model. A request without
 *        reported tokens, of an engine without prices, does not count.
 */
import type { StepResult } from "../record/index.ts"
import { hasCost } from "../events/index.ts"
import { totalTokens, type Usage } from "../model/index.ts"
import type { Budget } from "../options/index.ts"
import type { Terminal } from "./terminal.ts"

/** What steps spent: their requests, and the sub-agents whose calls ended in them. */
type Steps = ReadonlyArray<
  Pick<StepResult, "childUsage"> & { readonly response: Pick<StepResult["response"], "usage" | "model"> }
>

const none: Usage = {}

/** Why the turn stops after these steps used up its tokens or its cost; `undefined` if they did not. */
export const budgetSpent = ({ tokens, cost }: Budget, steps: Steps): Terminal | undefined =>
  over("budget_tokens", tokens, steps, tokensOf) ??
  over("budget_cost", cost, steps, costOf) ??
  (cost === undefined ? undefined : unpriced(cost, steps))

const over = (
  reason: Terminal["reason"],
  budget: number | undefined,
  steps: Steps,
  of: (usage: Usage) => number
): Terminal | undefined => {
  if (budget === undefined) return undefined
  const spent = sumOf(steps, of)
  return spent >= budget ? { reason, metadata: { budget, spent } } : undefined
}

const sumOf = (steps: Steps, of: (usage: Usage) => number): number =>
  steps.reduce((sum, { response, childUsage = none }) => sum + of(response.usage) + of(childUsage), 0)

/** The stop after a request whose cost is not known (BUDG1). */
const unpriced = (budget: number, steps: Steps): Terminal | undefined => {
  const models = new Set(
    steps.flatMap(({ response, childUsage = none }) => [
      ...(isUnpriced(response.usage) ? [response.model ?? "unknown"] : []),
      ...(isUnpriced(childUsage) ? ["unknown"] : [])
    ])
  )
  if (models.size === 0) return undefined
  return { reason: "budget_cost", metadata: { budget, spent: sumOf(steps, costOf), unpriced: Array.from(models) } }
}

const isUnpriced = (usage: Usage): boolean =>
  (usage.unpricedRequests ?? 0) > 0 || (!hasCost(usage) && tokensOf(usage) > 0)

/** Unreported tokens count as 0. */
const tokensOf = (usage: Usage): number => totalTokens(usage) ?? usage.inputTokens ?? usage.outputTokens ?? 0

export const costOf = ({ totalCost, inputCost = 0, outputCost = 0 }: Usage): number =>
  totalCost ?? inputCost + outputCost
