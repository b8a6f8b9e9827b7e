/**
 * What a decision makes of a call, where it does not run.
 *
 * DEC1. A decision to halt keeps every call from starting that was allowed beside it.
 */
import { Decision } from "../Approval.ts"
import { ValidationError } from "../ChatError.ts"
import { ok } from "../HandlerResult.ts"
import { denial } from "../Permissions.ts"
import type { ToolCall } from "../ToolCall.ts"
import { findingsOf } from "./findings.ts"
import { haltProblem } from "./haltWord.ts"
import { write } from "./jsonForm.ts"
import { type OpenCall, type Opened, openToolCalls } from "./openCalls.ts"
import { unknownOutcome, unknownReason } from "./revival.ts"
import { endedEarly, type OutcomeRules, type ToolOutcome, toolOutcome } from "./toolOutcome.ts"
import { haltedOutcome, refusedOutcome } from "./toolRefusal.ts"

/** The calls that go on, as they will run, with their places; and the outcomes of those that do not run. */
export interface GoingOn {
  readonly toolCalls: ReadonlyArray<ToolCall>
  readonly positions: ReadonlyArray<number>
  /** By place in `toolCalls`. */
  readonly settled: ReadonlyMap<number, ToolOutcome>
  /** By place in `toolCalls`: those whose arguments the decision replaced. */
  readonly edited: ReadonlySet<number>
}

/** What an open step goes on with. */
export const goingOnWith = (opened: Opened, rules: OutcomeRules): GoingOn => {
  const { calls } = opened.open
  const halts = calls.some((call) => call.state === "decided" && call.decision.type === "halt")
  const toolCalls: Array<ToolCall> = []
  const positions: Array<number> = []
  const settled = new Map<number, ToolOutcome>()
  const edited = new Set<number>()
  openToolCalls(opened).forEach((toolCall, position) => {
    const call = calls[position]
    if (call?.state !== "decided") return
    const outcome = outcomeOf(toolCall, call, halts, rules)
    if (outcome !== undefined) settled.set(toolCalls.length, outcome)
    if (call.decision.type === "allow" && call.decision.arguments !== undefined) edited.add(toolCalls.length)
    toolCalls.push(asDecided(toolCall, call.decision))
    positions.push(position)
  })
  return { toolCalls, positions, settled, edited }
}

const asDecided = (toolCall: ToolCall, decision: Decision): ToolCall =>
  decision.type === "allow" && decision.arguments !== undefined ? withArguments(toolCall, decision.arguments) : toolCall

const withArguments = (toolCall: ToolCall, args: Readonly<Record<string, unknown>>): ToolCall => {
  const { rawArguments: _, ...call } = toolCall
  return { ...call, arguments: args }
}

const outcomeOf = (
  toolCall: ToolCall,
  { kind, decision }: Extract<OpenCall, { readonly state: "decided" }>,
  halts: boolean,
  { toolResultEncoder }: OutcomeRules
): ToolOutcome | undefined => {
  const rules = { toolResultEncoder }
  switch (decision.type) {
    case "allow":
      return halts ? endedEarly(toolCall, "not_started", rules) : undefined
    case "deny": {
      const { reason = `${toolCall.name} was not allowed to run` } = decision
      return kind === "permission"
        ? refusedOutcome({ type: "deny", toolCall, reason, denial: denial("user_denied", reason) })
        : notAgain(toolCall, reason, rules)
    }
    case "halt": {
      const { reason = "halt" } = decision
      if (kind === "permission")
        return haltedOutcome({ type: "halt", toolCall, reason, message: undefined, cause: undefined })
      const outcome = notAgain(toolCall, reason, rules)
      return { ...outcome, halt: { type: "halt", toolCallId: toolCall.id, reason, result: null } }
    }
    case "result":
      return toolOutcome(toolCall, ok(decision.value), rules)
  }
}

/** A call that may have run, and does not run again. */
const notAgain = (toolCall: ToolCall, reason: string, rules: OutcomeRules): ToolOutcome =>
  unknownOutcome(toolCall, rules, `${unknownReason}; it was not run again: ${reason}`)

/** A decision that can be kept; throws a `ValidationError` for anything else. */
export const checkedDecision = (decision: unknown): Decision => {
  const { success, data, error } = Decision.safeParse(decision)
  if (!success) throw new ValidationError("invalid_options", findingsOf(error, ["decision"]))
  const { found } = write(data, false)
  if (found.length > 0) {
    throw new ValidationError(
      "invalid_options",
      found.map(({ field, reason }) => ({ field: ["decision", ...field], reason }))
    )
  }
  const problem = data.type === "halt" ? haltProblem(data.reason) : undefined
  if (problem !== undefined) {
    throw new ValidationError("invalid_options", [{ field: ["decision", "reason"], reason: problem }])
  }
  return data
}
