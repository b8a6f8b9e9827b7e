/**
 * The waits of sub-agents in the open step of the chat above.
 *
 * OPEN4. What the sub-agent of a call waits for is listed beside the waits of the chat's own calls, each under an address. Each
 *        is decided once, as a call is. The call is decided when all of them are.
 */
import {
  addressOf,
  type Ask,
  type ChildWait,
  type Decision,
  type OpenCall,
  type PendingApproval
} from "../record/index.ts"
import type { ToolCall } from "../model/index.ts"

type Waiting = Extract<OpenCall, { readonly state: "waiting" }>

/** The state of a call whose sub-agent waits; it expires with the first of the waits. */
export const waitingForChild = (child: ChildWait, now: number): OpenCall => {
  const ends = child.asks.flatMap(({ expiresAt }) => expiresAt ?? [])
  return {
    state: "waiting",
    kind: "subagent",
    reason: "its sub-agent waits for a person",
    askedAt: now,
    ...(ends.length === 0 ? {} : { expiresAt: Math.min(...ends) }),
    child
  }
}

/** The state of the call with this id whose sub-agent waits, as the approvals say; `undefined` if none of them is below it. */
export const waitingBelow = (toolCallId: string, approvals: ReadonlyArray<PendingApproval>): OpenCall | undefined => {
  const start = addressOf(toolCallId, "")
  const asks = approvals.flatMap(({ toolCall, agent = "", chat = "", ...ask }): ReadonlyArray<Ask> => {
    const { id } = toolCall
    return id.startsWith(start) ? [{ ...ask, toolCall, agent, chat, id: id.slice(start.length), at: 0 }] : []
  })
  const [first] = asks
  return first === undefined ? undefined : waitingForChild({ chat: first.chat, asks, counted: {} }, first.askedAt)
}

/** What a waiting call waits for: a decision about itself, or those of its sub-agent that are left. */
export const approvalsOf = (toolCall: ToolCall, call: Waiting): ReadonlyArray<PendingApproval> => {
  const { kind, reason, askedAt, expiresAt, child } = call
  const limit = expiresAt === undefined ? {} : { expiresAt }
  if (child === undefined) return kind === "subagent" ? [] : [{ toolCall, kind, reason, askedAt, ...limit }]
  return child.asks.flatMap((ask): ReadonlyArray<PendingApproval> => {
    if (ask.decision !== undefined) return []
    const shown = { kind: ask.kind, reason: ask.reason, agent: ask.agent, chat: ask.chat, askedAt: ask.askedAt }
    return [{ toolCall: { ...ask.toolCall, id: addressOf(toolCall.id, ask.id) }, ...shown, ...limit }]
  })
}

/** The call after a decision about this id; `undefined` if it does not wait for that. */
export const decidedCall = (
  call: OpenCall,
  toolCall: ToolCall | undefined,
  id: string,
  decision: Decision
): OpenCall | undefined => {
  if (call.state !== "waiting" || toolCall === undefined) return undefined
  const { kind, child } = call
  if (child === undefined) return toolCall.id === id ? { state: "decided", kind, decision } : undefined
  const at = child.asks.findIndex((ask) => ask.decision === undefined && addressOf(toolCall.id, ask.id) === id)
  const ask = child.asks[at]
  if (ask === undefined) return undefined
  const asks = child.asks.with(at, { ...ask, decision })
  const left = { ...child, asks }
  return asks.every((one) => one.decision !== undefined)
    ? { state: "decided", kind, decision: { type: "allow" }, child: left }
    : { ...call, child: left }
}

/** What was decided about this id, in the state of its call. */
export const decisionFor = (call: OpenCall, toolCall: ToolCall | undefined, id: string): Decision | undefined => {
  if (toolCall === undefined || (call.state !== "waiting" && call.state !== "decided")) return undefined
  if (call.child !== undefined) return call.child.asks.find((ask) => addressOf(toolCall.id, ask.id) === id)?.decision
  return call.state === "decided" && toolCall.id === id ? call.decision : undefined
}

const halts = ({ decision }: Pick<Ask, "decision">): boolean => decision?.type === "halt"

/** Whether the decision about a call, or about a wait of its sub-agent, ends the turn. */
export const isHalting = (call: OpenCall | undefined): boolean =>
  call?.state === "decided" && (halts(call) || call.child?.asks.some(halts) === true)
