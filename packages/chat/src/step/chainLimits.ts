/**
 * The limits of a chain and the budget of a turn: what has been used so far, and why a run stops.
 *
 * Owns: nothing. The record has what a chain has used (CHAIN1).
 *
 * BUDG1. A request whose cost is not known uses up a budget of cost: `metadata.unpriced` names its model. A request without
 *        reported tokens, of an engine without prices, does not count.
 */
import {
  type Chain,
  type ChatResult,
  type Conversation,
  endsChain,
  requestsOf,
  type StepResult,
  using,
  type HaltedReason,
  type PendingApproval,
  type PendingQuestion
} from "../record/index.ts"
import type { RunOptions, Budget } from "../options/index.ts"
import * as Usage from "../model/Usage.ts"
import { original, type Held } from "../values/index.ts"
import { hasCost } from "../events/index.ts"
import { totalTokens, type ToolCall } from "../model/index.ts"

/** The state of a chat whose chain is counted: the `chain` of its record is what its turns before the running one have used. */
interface Counted {
  readonly record: Pick<Conversation, "chain" | "tasks">
  readonly turn: unknown
  readonly steps: ReadonlyArray<Held<StepResult>>
  readonly result: Held<ChatResult> | undefined
  readonly now: number
  readonly facts: { readonly beganAt?: number | undefined; readonly maxChainRequests?: number | undefined }
}

/** How long the turns of the chain have run, in milliseconds. */
export const timeOf = ({ record, now, facts }: Pick<Counted, "record" | "now" | "facts">): number =>
  (record.chain?.timeMs ?? 0) + passedOf({ now, facts })

/** How long the running turn has run. */
const passedOf = ({ now, facts }: Pick<Counted, "now" | "facts">): number => now - (facts.beganAt ?? now)

/** What the chain has used, the running turn included; `undefined` if no turn of the runtime can follow. */
export const chainNow = (state: Counted): Chain | undefined => {
  const { turn, result, facts } = state
  const { chain, tasks } = state.record
  if (turn === undefined) return chain
  if (chain === undefined && tasks === undefined && !state.steps.some(hasCalls)) return undefined
  const steps = state.steps.map(original)
  const used = using(chain, { requests: requestsOf(steps), usage: usageOf(steps), timeMs: passedOf(state) })
  const { maxChainRequests = Infinity } = facts
  const isOver =
    (used.runtime ?? 0) >= maxChainRequests || (result !== undefined && endsChain(original(result).haltedReason))
  return isOver ? { ...used, isOver } : used
}

const hasCalls = (step: Held<StepResult>): boolean => original(step).response.toolCalls.length > 0

/** The usage of steps, with that of sub-agents. */
export const usageOf = (steps: ReadonlyArray<StepResult>): Usage.Usage =>
  steps.reduce(
    (sum, { response, childUsage = Usage.empty }) => Usage.add(Usage.add(sum, response.usage), childUsage),
    Usage.empty
  )

/** What the turns of a chain used before the running one, and what sub-agents use that no step counts yet, in the form of steps. */
export const carried = (chain: Chain | undefined, below?: Usage.Usage): Parameters<typeof budgetSpent>[1] => {
  if (below !== undefined) return [...carried(chain), { response: { usage: below, model: undefined } }]
  return chain === undefined ? [] : [{ response: { usage: chain.usage, model: undefined } }]
}

/** Why no turn of the runtime sends a further request in the chain (CHAIN3); `undefined` if one may. */
export const chainRequests = (
  { maxChainRequests = Infinity }: Pick<RunOptions, "maxChainRequests">,
  chain: Chain | undefined,
  more: number
): Terminal | undefined =>
  chain?.runtime !== undefined && chain.runtime + more >= maxChainRequests
    ? { reason: "max_chain_requests", metadata: { maxChainRequests } }
    : undefined

/** Why a turn after these steps sends no further request, whatever the model answered; `undefined` if it may. */
export const turnSpent = (
  options: Pick<RunOptions, "maxChainRequests" | "budget" | "family">,
  chain: Chain | undefined,
  steps: ReadonlyArray<StepResult>
): Terminal | undefined => {
  const { budget, family } = options
  return (
    chainRequests(options, chain, requestsOf(steps)) ??
    (budget && budgetSpent(budget, [...carried(chain, family?.below()), ...steps])) ??
    family?.overspent()
  )
}

/** Why a turn of this chain sends no request; `undefined` if it may. */
export const chainSpent = (
  options: Pick<RunOptions, "maxTurns" | "budget" | "maxChainRequests" | "family">,
  chain: Chain
): Terminal | undefined => {
  const { maxTurns, budget = {} } = options
  if (chain.requests >= maxTurns) return { reason: "max_turns", metadata: { maxTurns } }
  if (chain.timeMs >= (budget.timeMs ?? Infinity)) return { reason: "budget_time", metadata: { budget: budget.timeMs } }
  return turnSpent(options, chain, [])
}

/** What steps spent: their requests, and the sub-agents whose calls ended in them. */
type Steps = ReadonlyArray<
  Pick<StepResult, "childUsage"> & { readonly response: Pick<StepResult["response"], "usage" | "model"> }
>

const none: Usage.Usage = {}

/** Why the turn stops after these steps used up its tokens or its cost; `undefined` if they did not. */
export const budgetSpent = ({ tokens, cost }: Budget, steps: Steps): Terminal | undefined =>
  over("budget_tokens", tokens, steps, tokensOf) ??
  over("budget_cost", cost, steps, costOf) ??
  (cost === undefined ? undefined : unpriced(cost, steps))

const over = (
  reason: Terminal["reason"],
  budget: number | undefined,
  steps: Steps,
  of: (usage: Usage.Usage) => number
): Terminal | undefined => {
  if (budget === undefined) return undefined
  const spent = sumOf(steps, of)
  return spent >= budget ? { reason, metadata: { budget, spent } } : undefined
}

const sumOf = (steps: Steps, of: (usage: Usage.Usage) => number): number =>
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

const isUnpriced = (usage: Usage.Usage): boolean =>
  (usage.unpricedRequests ?? 0) > 0 || (!hasCost(usage) && tokensOf(usage) > 0)

/** Unreported tokens count as 0. */
const tokensOf = (usage: Usage.Usage): number => totalTokens(usage) ?? usage.inputTokens ?? usage.outputTokens ?? 0

export const costOf = ({ totalCost, inputCost = 0, outputCost = 0 }: Usage.Usage): number =>
  totalCost ?? inputCost + outputCost

/** Why a chat stops, and with what data. */
export interface Terminal {
  readonly reason: HaltedReason
  readonly metadata: Readonly<Record<string, unknown>>
  readonly pendingQuestion?: PendingQuestion
  readonly pendingToolCalls?: ReadonlyArray<ToolCall>
  readonly pendingApprovals?: ReadonlyArray<PendingApproval>
}
