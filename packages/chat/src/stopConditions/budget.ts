/** Checks the budget of a turn. */
import type { StepResult } from "../record/index.ts"
import { totalTokens, type Usage } from "../model/index.ts"
import type { Budget } from "../options/index.ts"
import type { Terminal } from "./terminal.ts"

/** Why the turn stops after these steps used up its tokens or its cost; `undefined` if they did not. */
export const budgetSpent = ({ tokens, cost }: Budget, steps: ReadonlyArray<StepResult>): Terminal | undefined =>
  over("budget_tokens", tokens, steps, tokensOf) ?? over("budget_cost", cost, steps, costOf)

const over = (
  reason: Terminal["reason"],
  budget: number | undefined,
  steps: ReadonlyArray<StepResult>,
  of: (usage: Usage) => number
): Terminal | undefined => {
  if (budget === undefined) return undefined
  const spent = steps.reduce((sum, { response }) => sum + of(response.usage), 0)
  return spent >= budget ? { reason, metadata: { budget, spent } } : undefined
}

/** Unreported tokens count as 0. */
const tokensOf = (usage: Usage): number => totalTokens(usage) ?? usage.inputTokens ?? usage.outputTokens ?? 0

const costOf = ({ totalCost, inputCost = 0, outputCost = 0 }: Usage): number => totalCost ?? inputCost + outputCost
