/**
 * A chain: everything that one input of a person or a host causes.
 *
 * Owns: what a chain has used, as plain data. Does not own the limits, which the options have.
 *
 * CHAIN1. A turn that the runtime begins carries on the counts of its chain: the requests, the tokens, the cost and the time. Such a turn
 *         is begun by the end of a background task, by a message of a tool's handler, by a decision, by an answer, or by results. An input
 *         of a person or a host begins a new chain, as each turn of a session does.
 * CHAIN2. A decision, an answer and results continue the turn that waited: `maxTurns` counts its requests too. The time that the chat
 *         waits for a person does not count. A decision with `renew` begins a new chain.
 * CHAIN3. The turns that the runtime begins with an input send at most `maxChainRequests` requests in a chain. When a limit of a chain
 *         has ended a turn, no further input of the runtime begins a turn: it waits in the inbox, and joins the next chain. An
 *         end that comes during a final answer joins the turn only within the limit.
 * CHAIN4. The counts are in the record, so that a restart does not reset them.
 * CHAIN5. `cancel({ tasks: true })` ends a chain with its background tasks: their ends wait as in CHAIN3. It also ends the chain of a
 *         cancelled turn that has not begun. A cancel of a turn that waits leaves the chain of the running turn, which the ends join.
 */
import * as z from "zod"
import { isEndMessage } from "./BackgroundTask.ts"
import type { HaltedReason } from "./ChatResult.ts"
import { type Message, Usage } from "../model/index.ts"
import * as Usages from "../model/Usage.ts"
import type { StepResult } from "./StepResult.ts"
import { isInjected, isNudge, isSentByTool } from "./userMessage.ts"

const count = z.number().int().nonnegative()

/**
 * What a chain has used.
 *
 * - `requests`: the model requests of the last turn, and of the turns that it continued
 * - `runtime`: the model requests since the runtime first began a turn of the chain with an input; absent before
 * - `usage`: the tokens and the cost of all its requests, with those of sub-agents
 * - `isOver`: whether no input of the runtime begins a turn of the chain
 *
 * **Units**: `timeMs` is the time that its turns ran, in milliseconds.
 */
export const Chain = z.lazy(() =>
  z
    .object({
      requests: count,
      runtime: count.optional(),
      usage: Usage,
      timeMs: z.number(),
      isOver: z.boolean().optional()
    })
    .readonly()
)
export type Chain = z.infer<typeof Chain>

const empty: Chain = { requests: 0, usage: Usages.empty, timeMs: 0 }

/** Whether neither a person nor the host sent a message with the role of the user. */
export const isOfRuntime = (message: Message): boolean =>
  isSentByTool(message) || isEndMessage(message) || isInjected(message) || isNudge(message)

/** Whether an input is of the runtime: it begins no chain. */
export const isRuntimeInput = ({ messages }: { readonly messages: ReadonlyArray<Message> }): boolean =>
  messages[0]?.role === "user" && isOfRuntime(messages[0])

/** The chain of a turn that an input of the runtime begins. */
export const causedBy = (chain: Chain = empty): Chain => ({ ...chain, requests: 0, runtime: chain.runtime ?? 0 })

/** The chain as it is when no further input of the runtime may begin a turn. */
export const over = (chain: Chain = empty): Chain => ({ ...chain, isOver: true })

/** The requests of steps: a step that runs open calls sends none. */
export const requestsOf = (steps: ReadonlyArray<Pick<StepResult, "response">>): number =>
  steps.reduce((sum, { response }) => (response.metadata["resumed"] === true ? sum : sum + 1), 0)

/** The chain with requests and their usage, and with time that passed. */
export const using = (
  chain: Chain = empty,
  more: { readonly requests: number; readonly usage: Usage; readonly timeMs: number }
): Chain => {
  const { runtime, isOver } = chain
  const used = {
    requests: chain.requests + more.requests,
    usage: Usages.add(chain.usage, more.usage),
    timeMs: chain.timeMs + more.timeMs
  }
  if (runtime === undefined && isOver === undefined) return used
  return {
    ...used,
    ...(runtime !== undefined && { runtime: runtime + more.requests }),
    ...(isOver !== undefined && { isOver })
  }
}

const limits: ReadonlySet<HaltedReason> = new Set([
  "budget_tokens",
  "budget_cost",
  "budget_time",
  "max_chain_requests",
  "max_tree_requests"
])

/** Whether a turn ended at a limit of its chain. */
export const endsChain = (reason: HaltedReason): boolean => limits.has(reason)
