/** The outcome of a call that may have run before and does not run again. */

import type { ToolCall } from "../model/index.ts"
import { type OutcomeRules, resultOf, toolFailure, type ToolOutcome, toolOutcome } from "../call/index.ts"
import { describe } from "../values/index.ts"

/** The reason that is given for a call with an unknown outcome. */
export const unknownReason = "the program ended while it ran; it is unknown whether it took effect"

/** The outcome of a call that may or may not have taken effect. */
export const unknownOutcome = (toolCall: ToolCall, rules: OutcomeRules, message: string = unknownReason): ToolOutcome =>
  toolOutcome(
    toolCall,
    toolFailure(toolCall, "handler_exit", message),
    { toolResultEncoder: rules.toolResultEncoder },
    "unknown"
  )

/** Replaces the outcome of a call that may have run before and did not run again (DEC2). Its halt is kept. */
export const stillUnknown = (ended: ToolOutcome, rules: OutcomeRules): ToolOutcome => {
  if (ended.outcome === "unknown") return ended
  const result = resultOf(ended)
  const why = result?.type === "error" ? describe(result.reason) : ended.outcome
  return { ...notAgain(ended.toolCall, why, rules), halt: ended.halt }
}

/** The outcome of a call that may have run, and does not run again. */
export const notAgain = (toolCall: ToolCall, reason: string, rules: OutcomeRules): ToolOutcome =>
  unknownOutcome(toolCall, rules, `${unknownReason}; it was not run again: ${reason}`)
