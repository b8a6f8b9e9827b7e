/**
 * The limits of a chain: what its turns have used so far, and why it stops.
 *
 * Owns: nothing. The record has what a chain has used (CHAIN1).
 */
import {
  type Chain,
  type ChatResult,
  type Conversation,
  endsChain,
  requestsOf,
  type StepResult,
  using
} from "../record/index.ts"
import type { RunOptions } from "../options/index.ts"
import * as Usage from "../model/Usage.ts"
import { original, type Held } from "../values/index.ts"
import { budgetSpent } from "./budget.ts"
import type { Terminal } from "./terminal.ts"

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
