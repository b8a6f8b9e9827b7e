/**
 * Decides after each step whether the run continues, or why it stops.
 *
 * TERM1. The conditions have a total order, and the first that holds decides: calls that wait for a decision, a halt of the
 *        step (cancel, question, tool error, handler halt), an error of the step, manual calls, a failed request, the final
 *        answer, cancel or the end of the time, `haltWhen`, `maxTurns`, `maxChainRequests`, `maxMistakes`, the tokens of the budget, its cost,
 *        `maxUnproductive`.
 * TERM2. `haltWhen` is called only when no condition before it held, `maxTurns` is checked only after `haltWhen` returned
 *        false, and the other bounds last. A final answer is `completed`, whatever its cost. (`finalAnswerPass.ts` decides
 *        about a second pass.)
 *
 * @source ALLM.Chat, "Halt reasons"
 */
import {
  type Chain,
  type ChatResult,
  type PendingApproval,
  type PendingQuestion,
  requestsOf,
  type StepHalt,
  type StepResult
} from "../record/index.ts"
import { goesOn, type Message } from "../model/index.ts"
import * as Thread from "../model/Thread.ts"
import { isPromiseLike } from "../async/index.ts"
import { budgetSpent, costOf, carried, chainRequests, usageOf, type Terminal } from "./chainLimits.ts"
import { hasCost } from "../events/index.ts"
import { mistaken, stuck } from "./loopGuards.ts"
import type { RunOptions } from "../options/index.ts"
import { isQuestion } from "./finalAnswer.ts"

/** The state of a turn after a step: whether it is to stop, all its steps, and what its chain used before. */
export interface Standing {
  readonly chain?: Chain | undefined
  readonly stopped: "cancelled" | "budget_time" | undefined
  readonly steps: ReadonlyArray<StepResult>
}

/** Why the chat stops after this step; `undefined` to continue. */
export const terminalCondition = (
  step: StepResult,
  stepIndex: number,
  options: Pick<
    RunOptions,
    "haltWhen" | "maxTurns" | "maxChainRequests" | "budget" | "family" | "maxMistakes" | "maxUnproductive"
  >,
  { stopped, steps, chain }: Standing
): Terminal | undefined => {
  const { halt, manualToolCalls, response } = step
  const pending = manualToolCalls.length > 0 ? { pendingToolCalls: manualToolCalls } : {}
  if (step.pendingApprovals !== undefined) return { ...awaitingApproval(step.pendingApprovals), ...pending }
  if (halt !== undefined) return { ...fromHalt(halt, stopped, options), ...pending }
  if (step.error !== undefined) return { reason: "error", metadata: { error: step.error }, ...pending }
  if (manualToolCalls.length > 0) {
    return {
      reason: "manual_tool_calls",
      metadata: { manualTurnIndex: stepIndex, manualToolCalls },
      pendingToolCalls: manualToolCalls
    }
  }
  if (step.mode === "manual") {
    return {
      reason: "manual_tool_calls",
      metadata: { manualTurnIndex: stepIndex },
      pendingToolCalls: response.toolCalls
    }
  }
  if (response.finishReason === "error") return { reason: "error", metadata: { error: response.metadata["error"] } }
  if (!goesOn(response)) return { reason: "completed", metadata: truncated(step) }
  if (stopped !== undefined) return stopping(stopped, options)
  if (asksToHalt(step, options)) return { reason: "halt_when", metadata: { haltWhenStepIndex: stepIndex } }
  if (stepIndex + 1 - resumedFirst(steps) + (chain?.requests ?? 0) >= options.maxTurns) {
    return { reason: "max_turns", metadata: { maxTurns: options.maxTurns } }
  }
  const { messages } = step.thread
  return (
    chainRequests(options, chain, requestsOf(steps)) ??
    mistaken(options, messages) ??
    (options.budget === undefined
      ? undefined
      : budgetSpent(options.budget, [...carried(chain, options.family?.below()), ...steps])) ??
    stuck(options, messages)
  )
}

/** The stop of a turn whose calls wait for a decision. */
export const awaitingApproval = (pendingApprovals: ReadonlyArray<PendingApproval>): Terminal => ({
  reason: "awaiting_approval",
  metadata: {},
  pendingApprovals
})

/** The stop of a turn that was cancelled, or whose time is over. */
export const stopping = (reason: NonNullable<Standing["stopped"]>, { budget }: Pick<RunOptions, "budget">): Terminal =>
  reason === "cancelled" ? { reason, metadata: {} } : { reason, metadata: { budget: budget?.timeMs } }

/** 1 if the turn began with open calls, whose step sent no request; else 0. */
const resumedFirst = (steps: ReadonlyArray<StepResult>): number =>
  steps[0]?.response.metadata["resumed"] === true ? 1 : 0

const asksToHalt = (step: StepResult, { haltWhen }: Pick<RunOptions, "haltWhen">): boolean => {
  const answer: unknown = haltWhen?.(step)
  if (!isPromiseLike(answer)) return answer === true
  Promise.resolve(answer).catch(() => undefined)
  throw new TypeError("haltWhen answered with a promise; it must be synchronous")
}

const fromHalt = (halt: StepHalt, stopped: Standing["stopped"], options: Pick<RunOptions, "budget">): Terminal => {
  switch (halt.type) {
    case "question": {
      const { question, toolCallId, options: shown } = halt
      return { reason: "ask_user", metadata: {}, pendingQuestion: { question, toolCallId, options: shown } }
    }
    case "tool_error":
      return {
        reason: "tool_error",
        metadata: {
          haltToolCallId: halt.toolCallId,
          error: halt.error,
          ...(halt.policyFault !== undefined && { onToolErrorException: halt.policyFault })
        }
      }
    case "halt":
      return { reason: halt.reason, metadata: { haltToolCallId: halt.toolCallId, haltResult: halt.result } }
    case "cancelled": {
      const { question } = halt
      return {
        ...stopping(stopped ?? "cancelled", options),
        ...(question !== undefined && { pendingQuestion: question })
      }
    }
  }
}

const truncated = ({ truncatedToolCalls }: StepResult): Readonly<Record<string, unknown>> =>
  truncatedToolCalls.length === 0 ? {} : { truncatedToolCalls }

/** One list for all turns that leave no calls: a chat at rest holds its result. */
const noCalls: ChatResult["pendingToolCalls"] = Object.freeze([])

/** The result of a chat that stops here. A question becomes the last message of its thread. */
export const chatResult = (thread: Thread.Thread, steps: ReadonlyArray<StepResult>, terminal: Terminal): ChatResult => {
  const { pendingQuestion } = terminal
  const usage = usageOf(steps)
  return {
    thread: pendingQuestion === undefined ? thread : withQuestion(thread, pendingQuestion),
    finalResponse: steps.at(-1)?.response,
    steps,
    haltedReason: terminal.reason,
    pendingToolCalls: terminal.pendingToolCalls ?? noCalls,
    usage,
    ...(hasCost(usage) ? { cost: costOf(usage) } : {}),
    metadata: terminal.metadata,
    ...(pendingQuestion !== undefined && { pendingQuestion }),
    ...(terminal.pendingApprovals !== undefined && { pendingApprovals: terminal.pendingApprovals })
  }
}

/** The thread with a tool's question as its last message; the same thread if it has that. */
export const withQuestion = (thread: Thread.Thread, question: PendingQuestion): Thread.Thread => {
  const last = thread.messages.at(-1)
  return last !== undefined && isQuestion(last, question) ? thread : Thread.append(thread, questionMessage(question))
}

const questionMessage = ({ question, toolCallId }: PendingQuestion): Message => ({
  role: "assistant",
  content: question,
  metadata: { ask_user: true, tool_call_id: toolCallId }
})
