/**
 * An open step: its assistant message is in the thread, and some of its calls have no result yet; the outcomes of
 * decided calls that do not run.
 *
 * Owns: the state of each call, and the position of its result. Does not own when results come, nor who decides.
 *
 * OPEN1. Every call of the message has one state. Exactly the calls that are `done` have their result in the thread.
 * OPEN2. Results follow their message in call order, before any later message.
 * OPEN3. A call is decided once. A later decision is refused with what was decided (`decidedBefore`).
 * DEC1. A decision to halt prevents the start of every call that was allowed beside it. A sub-agent gets the halt that is for it. Without
 *       its tool, the halt ends the turn all the same.
 * DEC2. A call that may have run stays `unknown`, whatever prevents it from running again; its text names both.
 */
import {
  type Ask,
  callOf,
  type Decision,
  isWaiting,
  type OpenCall,
  type OpenStep,
  type PendingApproval,
  type StepHalt
} from "../record/index.ts"
import { type Message, type Thread, type ToolCall, type ToolMessage, unstorable } from "../model/index.ts"
import { describe, error, ok } from "../values/index.ts"
import {
  approvalsOf,
  askBelow,
  type Asked,
  asksOfCall,
  type Decided,
  decidedCall,
  decisionFor,
  haltIn,
  isHalting
} from "./childAsks.ts"
import { calledWith, denial } from "../gate/index.ts"
import type { Tool } from "../tool/index.ts"
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

/** A thread and its open step. */
export interface Opened {
  readonly thread: Thread
  readonly open: OpenStep
}

const done: OpenCall = { state: "done" }

/** The calls of an open step's message. */
export const openToolCalls = ({ thread, open }: Opened): ReadonlyArray<ToolCall> => {
  const message: Message | undefined = thread.messages[open.at]
  return message?.role === "assistant" ? (message.toolCalls ?? []) : []
}

/** Adds results in call order (OPEN2), and marks their calls as done. */
export const withResults = ({ thread, open }: Opened, results: ReadonlyMap<number, ToolMessage>): Opened =>
  results.size === 0 ? { thread, open } : withResultsAt({ thread, open }, (position) => results.get(position))

/** Adds the results that the calls have, in call order (OPEN2), and marks these calls as done. */
export const withResultsAt = (
  { thread, open }: Opened,
  resultAt: (position: number) => ToolMessage | undefined
): Opened => {
  let known = open.at + 1
  const messages: Array<Message> = thread.messages.slice(0, known)
  const calls = open.calls.map((call, position) => {
    const isDone = call.state === "done"
    const result = isDone ? thread.messages[known++] : resultAt(position)
    if (result !== undefined) messages.push(result)
    return isDone || result === undefined ? call : done
  })
  messages.push(...thread.messages.slice(known))
  return { thread: { ...thread, messages }, open: { ...open, calls } }
}

/** The results of an open step: all that there are, and those that a state before did not have. */
export const resultsSince = (
  { thread, open }: Opened,
  before: OpenStep | undefined
): { readonly all: ReadonlyArray<ToolMessage>; readonly last: ReadonlyArray<ToolMessage> } => {
  const positions = open.calls.flatMap(({ state }, position) => (state === "done" ? [position] : []))
  const behind = thread.messages.slice(open.at + 1, open.at + 1 + positions.length)
  const all = behind.filter((message) => message.role === "tool")
  return { all, last: all.filter((_, place) => before?.calls[positions[place] ?? -1]?.state !== "done") }
}

/** Adds the results that a caller submits for manual calls. */
export const withCallersResults = (opened: Opened, messages: ReadonlyArray<Message>): Opened => {
  const given = messages.filter((message) => message.role === "tool")
  const results = new Map<number, ToolMessage>()
  openToolCalls(opened).forEach(({ id }, position) => {
    const at = given.findIndex(({ toolCallId }) => toolCallId === id)
    const [result] = opened.open.calls[position]?.state === "manual" && at !== -1 ? given.splice(at, 1) : []
    if (result !== undefined) results.set(position, result)
  })
  return withResults(opened, results)
}

/** Whether the step has calls to run or to decide, or a halt to take effect, before the next request. */
export const isUnfinished = ({ calls, halt }: OpenStep): boolean =>
  halt !== undefined || calls.some(({ state }) => state !== "done" && state !== "manual")

const noApprovals: ReadonlyArray<PendingApproval> = []

/** The calls that wait for a decision, in call order; in place of a call whose sub-agent waits, what that waits for (OPEN4). */
export const pendingApprovalsOf = (thread: Thread, open: OpenStep | undefined): ReadonlyArray<PendingApproval> => {
  if (open === undefined || !isWaiting(open)) return noApprovals
  return eachWaiting({ thread, open }, approvalsOf)
}

/** What an open step of a sub-agent's chat waits for, in call order. */
export const asksIn = (opened: Opened, own: Pick<Ask, "agent" | "chat">): ReadonlyArray<Ask> =>
  eachWaiting(opened, (toolCall, call) => asksOfCall(toolCall, call, { ...own, at: opened.open.at }))

const eachWaiting = <A>(
  opened: Opened,
  found: (toolCall: ToolCall, call: Extract<OpenCall, { readonly state: "waiting" }>) => ReadonlyArray<A>
): ReadonlyArray<A> => {
  const toolCalls = openToolCalls(opened)
  return opened.open.calls.flatMap((call, position) => {
    const toolCall = toolCalls[position]
    return call.state === "waiting" && toolCall !== undefined ? found(toolCall, call) : []
  })
}

/** The wait of a sub-agent that has this address, and the tool of the call above; `undefined` for the id of a call. */
export const askAt = (opened: Opened, id: string): { readonly ask: Ask; readonly tool: string } | undefined => {
  for (const [position, toolCall] of openToolCalls(opened).entries()) {
    const call = opened.open.calls[position]
    const ask = call === undefined ? undefined : askBelow(call, toolCall, id)
    if (ask !== undefined) return { ask, tool: toolCall.name }
  }
  return undefined
}

/** When the first waiting call expires; `undefined` for never. */
export const firstExpiry = ({ calls }: OpenStep): number | undefined => {
  const ends = calls.flatMap((call) =>
    call.state === "waiting" && call.expiresAt !== undefined ? [call.expiresAt] : []
  )
  return ends.length === 0 ? undefined : Math.min(...ends)
}

/** Applies the decisions, each to the first waiting call with its id, or with this address (OPEN3, OPEN4). */
export const decide = (opened: Opened, decisions: ReadonlyArray<Decided>): OpenStep => {
  const toolCalls = openToolCalls(opened)
  const calls = [...opened.open.calls]
  for (const decision of decisions) {
    for (const [position, call] of calls.entries()) {
      const decided = decidedCall(call, toolCalls[position], decision, opened.open.at)
      if (decided === undefined) continue
      calls[position] = decided
      break
    }
  }
  return { ...opened.open, calls }
}

/** Whether the step waits for this decision (OPEN5). */
export const waitsFor = (opened: Opened, decided: Decided): boolean => {
  const toolCalls = openToolCalls(opened)
  const { at, calls } = opened.open
  return calls.some((call, position) => decidedCall(call, toolCalls[position], decided, at) !== undefined)
}

/** What is known of a call that waits for no decision: the decision, while its step is open, and its outcome afterwards. */
export interface DecidedBefore {
  readonly decision?: Decision | undefined
  readonly outcome?: string | undefined
}

/** What was decided about a call, as far as a record says so; `undefined` for a call that the record does not have. */
export const decidedBefore = (
  { thread, open }: { readonly thread: Thread; readonly open?: OpenStep | undefined },
  asked: Asked
): DecidedBefore | undefined => {
  const { toolCallId } = asked
  const decision = open === undefined ? undefined : decisionIn({ thread, open }, asked)
  if (decision !== undefined) return { decision }
  if (open !== undefined && askAt({ thread, open }, toolCallId) !== undefined) return undefined
  const ids = [toolCallId, callOf(toolCallId)]
  const result = thread.messages.findLast((message) => message.role === "tool" && ids.includes(message.toolCallId))
  return result?.role === "tool" ? { outcome: result.outcome ?? "completed" } : undefined
}

const decisionIn = (opened: Opened, asked: Asked): Decision | undefined => {
  const toolCalls = openToolCalls(opened)
  for (const [position, call] of opened.open.calls.entries()) {
    const decision = decisionFor(call, toolCalls[position], asked, opened.open.at)
    if (decision !== undefined) return decision
  }
  return undefined
}

/** A halt that can be stored: a value without a JSON form is replaced by its description. */
export const keptHalt = (halt: StepHalt): StepHalt => {
  if (unstorable(halt).length === 0) return halt
  switch (halt.type) {
    case "halt":
      return { ...halt, result: describe(halt.result) }
    case "tool_error":
      return { type: halt.type, toolCallId: halt.toolCallId, error: describe(halt.error) }
    default:
      return halt
  }
}

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
