/** The outcome of a call that may have run before and does not run again. */

import type { ToolCall } from "../model/index.ts"
import { type OutcomeRules, resultOf, toolFailure, type ToolOutcome, toolOutcome } from "../call/index.ts"
import { describe } from "../toolResult/index.ts"

/** Why a call waits whose outcome is unknown. */
export const unknownReason = "the program ended while it ran; it is unknown whether it took effect"

/** The outcome of a call of which nobody knows whether it took effect. */
export const unknownOutcome = (toolCall: ToolCall, rules: OutcomeRules, message: string = unknownReason): ToolOutcome =>
  toolOutcome(
    toolCall,
    toolFailure(toolCall, "handler_exit", message),
    { toolResultEncoder: rules.toolResultEncoder },
    "unknown"
  )

/** What an end that its handler had no part in makes of a call that may have run before (DEC2); how it ends the turn stays. */
export const stillUnknown = (ended: ToolOutcome, rules: OutcomeRules): ToolOutcome => {
  if (ended.outcome === "unknown") return ended
  const result = resultOf(ended)
  const why = result?.type === "error" ? describe(result.reason) : ended.outcome
  return { ...notAgain(ended.toolCall, why, rules), halt: ended.halt }
}

/** A call that may have run, and does not run again. */
export const notAgain = (toolCall: ToolCall, reason: string, rules: OutcomeRules): ToolOutcome =>
  unknownOutcome(toolCall, rules, `${unknownReason}; it was not run again: ${reason}`)
