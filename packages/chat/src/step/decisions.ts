/**
 * The outcomes of decided calls that do not run.
 *
 * DEC1. A decision to halt prevents the start of every call that was allowed beside it. A sub-agent gets the halt that is for it. Without
 *       its tool, the halt ends the turn all the same.
 * DEC2. A call that may have run stays `unknown`, whatever prevents it from running again; its text names both.
 */
import type { Decision, OpenCall } from "../record/index.ts"
import { error, ok } from "../values/index.ts"
import { calledWith, denial } from "../gate/index.ts"
import type { ToolCall } from "../model/index.ts"
import type { Tool } from "../tool/index.ts"
import { haltIn, isHalting } from "./childAsks.ts"
import { type Opened, openToolCalls } from "./openCalls.ts"
import {
  endedEarly,
  haltedOutcome,
  type OutcomeRules,
  refusedOutcome,
  type ToolOutcome,
  toolOutcome
} from "../call/index.ts"
import { givenResult } from "../agents/index.ts"
import { type CallStart, notAgain } from "../batch/index.ts"

/** The calls that an open step continues with: those that were decided. */
export const goingOnWith = (
  opened: Opened,
  rules: OutcomeRules & { readonly toolsByName: ReadonlyMap<string, Tool> }
): ReadonlyArray<CallStart> => {
  const { calls } = opened.open
  const halts = calls.some(isHalting)
  return openToolCalls(opened).map((toolCall, position): CallStart => {
    const call = calls[position] ?? { state: "done" }
    if (call.state !== "decided") return { toolCall, open: call }
    const tool = rules.toolsByName.get(toolCall.name)
    const decided =
      outcomeOf(toolCall, call, halts, rules) ?? (tool === undefined ? haltedBelow(toolCall, call) : undefined)
    const isGiven = call.decision.type === "result"
    const settled = isGiven && decided ? { ...decided, message: givenResult(tool, decided.message) } : decided
    return { toolCall: asDecided(toolCall, call.decision), open: call, settled }
  })
}

/** The outcome of a call whose sub-agent cannot get the halt that is for it (DEC1). */
const haltedBelow = (
  toolCall: ToolCall,
  { child }: Extract<OpenCall, { readonly state: "decided" }>
): ToolOutcome | undefined => {
  const reason = haltIn(child)
  return reason === undefined
    ? undefined
    : haltedOutcome({ type: "halt", toolCall, reason, message: undefined, cause: undefined })
}

const asDecided = (toolCall: ToolCall, decision: Decision): ToolCall =>
  decision.type === "allow" && decision.arguments !== undefined ? calledWith(toolCall, decision.arguments) : toolCall

const outcomeOf = (
  toolCall: ToolCall,
  call: Extract<OpenCall, { readonly state: "decided" }>,
  halts: boolean,
  { toolResultEncoder, maxToolResultCharacters, maxFileBytes, blobs }: OutcomeRules
): ToolOutcome | undefined => {
  const rules = { toolResultEncoder, maxToolResultCharacters, maxFileBytes, blobs }
  const { kind, decision } = call
  switch (decision.type) {
    case "allow":
      return halts && !isHalting(call) ? leftOut(toolCall, call, "not_started", rules) : undefined
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
      return toolOutcome(toolCall, decision.value instanceof Error ? error(decision.value) : ok(decision.value), rules)
  }
}

/** The outcome of a call that was to run, but does not; a decision other than `allow` stays in effect. */
export const leftOut = (
  toolCall: ToolCall,
  call: Extract<OpenCall, { readonly state: "waiting" | "decided" }>,
  ended: "cancelled" | "not_started",
  rules: OutcomeRules,
  why?: string
): ToolOutcome => {
  if (call.state === "decided" && call.decision.type !== "allow") {
    const decided = outcomeOf(toolCall, call, false, rules)
    if (decided !== undefined) return decided
  }
  return call.kind !== "unknown_outcome"
    ? endedEarly(toolCall, ended, rules, why ?? (call.child && `not continued: ${leavings[ended]}`))
    : notAgain(toolCall, why ?? leavings[ended], rules)
}

const leavings = { cancelled: "the turn was cancelled", not_started: "the turn was ended before" } as const
