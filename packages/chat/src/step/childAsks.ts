/**
 * The waits of sub-agents in the open step of the chat above, and of those of background tasks.
 *
 * OPEN4. What the sub-agent of a call waits for is listed beside the waits of the chat's own calls, each under an address. Each
 *        is decided once, as a call is. The call is decided when all of them are.
 * OPEN5. A decision is for the wait that has its id or address when the decision is given. Another wait that has it later does not get
 *        it. A decision for an address that nothing has when it is given is for no wait, and is refused. A decision for a call that does
 *        not wait yet is for its permission, and never for the unknown outcome of a call that has run.
 * TASKWAIT1. What the sub-agent of a task waits for is listed as that of a call is, under an address of the same form. Each is decided once.
 *            The task goes on when all of them are.
 */
import {
  addressOf,
  type Ask,
  type ChildWait,
  type Decision,
  type OpenCall,
  type PendingApproval,
  type BackgroundTask,
  waitOfTask
} from "../record/index.ts"
import { calledWith } from "../gate/index.ts"
import type { ToolCall } from "../model/index.ts"

/** The state of a call whose sub-agent waits; it expires with the first of the waits. */
export const waitingForChild = (child: ChildWait, now: number, given?: Readonly<Record<string, unknown>>): OpenCall => {
  const ends = child.asks.flatMap(({ expiresAt }) => expiresAt ?? [])
  return {
    state: "waiting",
    kind: "subagent",
    reason: child.chat === "" ? "it asks a person" : "its sub-agent waits for a person",
    askedAt: now,
    ...(ends.length === 0 ? {} : { expiresAt: Math.min(...ends) }),
    ...(given !== undefined && { arguments: given }),
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

/** The waits below a call that are left, as the chat of the call names them; `own` is that chat, which asks what has no chat of its own. */
const left = (
  toolCall: ToolCall,
  { child, expiresAt }: Extract<OpenCall, { readonly state: "waiting" }>,
  own: Pick<Ask, "agent" | "chat">
): ReadonlyArray<Ask> =>
  (child?.asks ?? []).flatMap((ask): ReadonlyArray<Ask> => {
    if (ask.decision !== undefined) return []
    const { expiresAt: _, above = [], ...rest } = ask
    const id = addressOf(toolCall.id, ask.id)
    const limit = expiresAt === undefined ? {} : { expiresAt }
    const asker = ask.chat === "" ? own : {}
    const below = [{ agent: own.agent, tool: toolCall.name }, ...above]
    return [{ ...rest, ...asker, id, toolCall: { ...ask.toolCall, id }, above: below, ...limit }]
  })

/** What a waiting call waits for: a decision about itself, or those of its sub-agent that are left. */
export const approvalsOf = (
  toolCall: ToolCall,
  call: Extract<OpenCall, { readonly state: "waiting" }>
): ReadonlyArray<PendingApproval> => {
  const { kind, reason, askedAt, expiresAt, child, arguments: given } = call
  const limit = expiresAt === undefined ? {} : { expiresAt }
  if (child === undefined) {
    const asked = given === undefined ? toolCall : calledWith(toolCall, given)
    return kind === "subagent" ? [] : [{ toolCall: asked, kind, reason, askedAt, ...limit }]
  }
  return left(toolCall, call, { agent: "", chat: "" }).map(
    ({ id: _id, at: _at, above: _above, agent: by, chat, ...approval }) =>
      chat === "" ? approval : { ...approval, agent: by, chat }
  )
}

/** The waits of a call of a sub-agent's chat, for the chat above; `at` is the index of its message. */
export const asksOfCall = (
  toolCall: ToolCall,
  call: Extract<OpenCall, { readonly state: "waiting" }>,
  { agent, chat, at }: Pick<Ask, "agent" | "chat" | "at">
): ReadonlyArray<Ask> =>
  call.child === undefined
    ? approvalsOf(toolCall, call).map((approval) => ({ ...approval, id: toolCall.id, agent, chat, at }))
    : left(toolCall, call, { agent, chat })

/** What identifies a wait, beside its id or address (OPEN5). A wait of the chat itself has an empty `chat`; one to come, no place. */
export interface About extends Pick<Ask, "chat"> {
  readonly at?: number | undefined
  readonly askedAt?: number | undefined
  readonly kind: Extract<OpenCall, { readonly state: "waiting" }>["kind"] | Ask["kind"]
}

/** Identifies no wait: that of a decision whose address nothing has when it is given (OPEN5). */
export const noWait: About = { chat: "", at: -1, kind: "question", askedAt: 0 }

/** Identifies the first wait of a call of the chat itself that does not wait yet (OPEN5). */
export const waitToCome: About = { chat: "", kind: "permission" }

/** Whether this is the wait of a decision. */
export const isAbout = (ask: About, about: About | undefined): boolean =>
  about === undefined ||
  (ask.chat === about.chat &&
    ask.kind === about.kind &&
    (about.at === undefined || ask.at === about.at) &&
    (about.askedAt === undefined || ask.askedAt === about.askedAt))

/** A decision about the call of this id; `about` is the wait that it is for, if there was one when it was given. */
export interface Decided {
  readonly toolCallId: string
  readonly decision: Decision
  readonly about?: About | undefined
}

/** What a decision is about. */
export type Asked = Pick<Decided, "toolCallId" | "about">

/** The wait with this address below a call, decided or not: of two that have it the one that is left. */
export const askBelow = (call: OpenCall, toolCall: ToolCall | undefined, id: string): Ask | undefined => {
  if (toolCall === undefined || (call.state !== "waiting" && call.state !== "decided")) return undefined
  const asks = call.child?.asks.filter((ask) => addressOf(toolCall.id, ask.id) === id)
  return asks?.find(({ decision }) => decision === undefined) ?? asks?.[0]
}

/** The call after a decision; `undefined` if it does not wait for that. `message` is the index of its message. */
export const decidedCall = (
  call: OpenCall,
  toolCall: ToolCall | undefined,
  { toolCallId: id, decision, about }: Decided,
  message: number
): OpenCall | undefined => {
  if (call.state !== "waiting" || toolCall === undefined) return undefined
  const { kind, askedAt, child, arguments: given } = call
  if (child === undefined) {
    const decided: OpenCall = { state: "decided", kind, decision: withGiven(decision, given) }
    return toolCall.id === id && isAbout({ chat: "", at: message, kind, askedAt }, about) ? decided : undefined
  }
  const at = child.asks.findIndex(
    (ask) => ask.decision === undefined && addressOf(toolCall.id, ask.id) === id && isAbout(ask, about)
  )
  const ask = child.asks[at]
  if (ask === undefined) return undefined
  const asks = child.asks.with(at, { ...ask, decision })
  const after = { ...child, asks }
  return asks.every((one) => one.decision !== undefined)
    ? { state: "decided", kind, decision: withGiven({ type: "allow" }, given), child: after }
    : { ...call, child: after }
}

/** A call that ran with the arguments of a person runs again with these, unless the decision has others. */
const withGiven = (decision: Decision, given: Readonly<Record<string, unknown>> | undefined): Decision =>
  given === undefined || decision.type !== "allow" || decision.arguments !== undefined
    ? decision
    : { ...decision, arguments: given }

/** What was decided about this id, in the state of its call, whose message has the index `message`. */
export const decisionFor = (
  call: OpenCall,
  toolCall: ToolCall | undefined,
  { toolCallId: id, about }: Asked,
  message: number
): Decision | undefined => {
  if (toolCall === undefined || (call.state !== "waiting" && call.state !== "decided")) return undefined
  if (call.child !== undefined) {
    return call.child.asks.find((ask) => addressOf(toolCall.id, ask.id) === id && isAbout(ask, about))?.decision
  }
  if (call.state !== "decided" || toolCall.id !== id) return undefined
  const { kind, decision } = call
  const asked = { chat: "", at: message, kind, askedAt: about?.askedAt }
  return isAbout(asked, about) ? decision : undefined
}

/** The reason with which a person ended the turn of a sub-agent, if one did. */
export const haltIn = (wait: ChildWait | undefined): string | undefined => {
  const halt = wait?.asks.find(halts)?.decision
  return halt?.type === "halt" ? (halt.reason ?? "halt") : undefined
}

const halts = ({ decision }: Pick<Ask, "decision">): boolean => decision?.type === "halt"

/** Whether the decision about a call, or about a wait of its sub-agent, ends the turn. */
export const isHalting = (call: OpenCall | undefined): boolean =>
  call?.state === "decided" && (halts(call) || call.child?.asks.some(halts) === true)

type Tasks = ReadonlyArray<BackgroundTask>

const none: ReadonlyArray<never> = []

const callOf = ({ toolCallId: id, tool: name, arguments: given }: BackgroundTask): ToolCall => ({
  id,
  name,
  arguments: given
})

/** The state that a call with this wait has in an open step. */
const stateOf = ({ startedAt }: BackgroundTask, child: ChildWait): OpenCall => waitingForChild(child, startedAt)

/** Tasks have no message in the open step. */
const noMessage = -1

/** What the sub-agents of the tasks wait for. */
export const taskApprovals = (tasks: Tasks = none): ReadonlyArray<PendingApproval> =>
  tasks.flatMap((task): ReadonlyArray<PendingApproval> => {
    const child = waitOfTask(task)
    const state = child && stateOf(task, child)
    if (state?.state !== "waiting") return none
    return approvalsOf(callOf(task), state).map((approval) => ({ ...approval, task: task.id }))
  })

/** What the sub-agents of the tasks of a sub-agent's chat wait for, for the chat above. */
export const taskAsks = (own: Pick<Ask, "agent" | "chat">, tasks: Tasks = none): ReadonlyArray<Ask> =>
  tasks.flatMap((task): ReadonlyArray<Ask> => {
    const child = waitOfTask(task)
    const state = child && stateOf(task, child)
    return state?.state === "waiting" ? asksOfCall(callOf(task), state, { ...own, at: noMessage }) : none
  })

/** The wait with this address, and the tool of its task with the agent that has the tool. */
export const taskAskAt = (
  id: string,
  tasks: Tasks = none
): (Pick<BackgroundTask, "agent" | "tool"> & { readonly ask: ChildWait["asks"][number] }) | undefined => {
  for (const task of tasks) {
    const ask = task.child && askBelow(stateOf(task, task.child), callOf(task), id)
    if (ask !== undefined) return { ask, tool: task.tool, agent: task.agent }
  }
  return undefined
}

/** What was decided about the wait with this address. */
export const taskDecision = (asked: Asked, tasks: Tasks = none): Decision | undefined => {
  for (const task of tasks) {
    const decision = task.child && decisionFor(stateOf(task, task.child), callOf(task), asked, noMessage)
    if (decision !== undefined) return decision
  }
  return undefined
}

/** The tasks after the decisions; `undefined` if one of these is for no wait of theirs, so that none takes effect. */
export const decideTasks = (decisions: ReadonlyArray<Decided>, tasks: Tasks = none): Tasks | undefined => {
  let now = tasks
  for (const decided of decisions) {
    const next = withDecision(now, decided)
    if (next === undefined) return undefined
    now = next
  }
  return now
}

const withDecision = (tasks: Tasks, decided: Decided): Tasks | undefined => {
  for (const [at, task] of tasks.entries()) {
    const wait = waitOfTask(task)
    const call = wait && decidedCall(stateOf(task, wait), callOf(task), decided, noMessage)
    if (call !== undefined && "child" in call) return tasks.with(at, { ...task, child: call.child })
  }
  return undefined
}
