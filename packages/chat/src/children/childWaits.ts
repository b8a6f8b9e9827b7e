/**
 * What a child waits for, and how the answers of a person get to it.
 *
 * Owns: nothing. The chat of the call stores what its child waits for, and what a person decided.
 *
 * SUB10. What a child waits for is a wait of its call, so that it passes up to the root, through every chat between. While it waits, it has
 *        no process.
 * SUB11. An answer gets to the very call that asked, once: an answer to what the child no longer waits for is not used. A call that was
 *        allowed to run, and may have run when the program ended, is another wait, and is asked about again.
 * SUB12. A decision to halt ends the turn of every chat up to the root, as a decision about a call of the root does. Nothing runs that was
 *        decided beside it, and the child gets no other answer.
 */
import { shortened } from "../errors/index.ts"
import { shown } from "../json/index.ts"
import type { AnswerOptions, Answers } from "../inbox/index.ts"
import type { ChatContext } from "../loop/index.ts"
import type { Thread, ToolCall } from "../model/index.ts"
import { type Ask, type ChildWait, type Conversation, isWaiting, shownOptions } from "../record/index.ts"
import { asksIn, isAbout, openToolCalls, taskAsks } from "../step/index.ts"
import { digest, isProviderApproval } from "../tool/index.ts"

/** A turn of a child. */
export interface Turn {
  readonly over: boolean
  readonly result: () => Promise<{ readonly haltedReason: string }>
}

/** The function that answers a child. */
export interface Answering {
  readonly answer: (answers: Answers, options?: AnswerOptions) => Turn
}

/** The chat of a child, and its context. */
interface WaitingChild {
  readonly id: string
  readonly context: ChatContext
}

/** How many waits a child may have at once. */
export const mostAsks = 100

/** The most characters of the arguments that a person sees. */
const mostArguments = 16_000

/**
 * What the child and its background tasks wait for. It follows from its open calls, not from the end of its last turn: after a restart it
 * can wait in a turn that has no end.
 */
export const asksOf = (child: WaitingChild): ReadonlyArray<Ask> => {
  const { agent, tasks } = child.context.record
  return [...ownAsksOf(child), ...taskAsks({ agent: agent?.name ?? "", chat: child.id }, tasks)]
}

/** What the child itself waits for. */
export const ownAsksOf = ({ id: chat, context }: WaitingChild): ReadonlyArray<Ask> => {
  const { thread, open, pendingQuestion, pendingToolCalls, agent } = context.record
  const askedAt = context.now
  const own = { agent: agent?.name ?? "", chat }
  // The calls belong to the agent that made them, also when another call handed the chat over.
  const waits = open === undefined ? [] : asksIn({ thread, open }, { ...own, agent: open.agent ?? own.agent })
  const approvals = waits.map((ask) => ({
    ...ask,
    reason: shortened(ask.reason),
    toolCall: bounded(ask.toolCall)
  }))
  const others = [
    ...pendingToolCalls.map((toolCall) => ({ kind: "tool_result" as const, id: toolCall.id, reason: "" })),
    ...(pendingQuestion === undefined
      ? []
      : [
          {
            kind: "question" as const,
            id: pendingQuestion.toolCallId,
            reason: shortened(pendingQuestion.question),
            ...shownOptions(pendingQuestion.options)
          }
        ])
  ]
  const answers = others.map((ask): Ask => {
    const at = indexOf(thread, ask.id)
    const toolCall = bounded(callAt(thread, at, ask.id) ?? { id: ask.id, name: "", arguments: {} })
    return { ...own, ...ask, at, toolCall, askedAt }
  })
  return [...approvals, ...answers]
}

/** The index of the newest message with this call; -1 if there is none. */
const indexOf = (thread: Thread, id: string): number =>
  thread.messages.findLastIndex((_, at) => callAt(thread, at, id) !== undefined)

const callAt = (thread: Thread, at: number, id: string): ToolCall | undefined =>
  openToolCalls({ thread, open: { at, calls: [] } }).find((call) => call.id === id)

/** The call without what only its provider reads, but with the provider's question; long arguments as their beginning. */
const bounded = (call: ToolCall): ToolCall => {
  const { id, name, arguments: args, rawArguments, metadata } = call
  const asked = isProviderApproval(call) && { metadata: { approval: metadata?.["approval"] } }
  const text = args === null ? (rawArguments ?? "") : JSON.stringify(shown(args))
  return args !== null && text.length <= mostArguments
    ? { id, name, arguments: args, ...asked }
    : { id, name, arguments: null, rawArguments: shortened(text, mostArguments), ...asked }
}

/** The turn that gives the child the answers it waits for; `undefined` if there are none (SUB11), or a halt prevents them (SUB12). */
export const answering = (
  { id: chat, context }: WaitingChild,
  asks: ReadonlyArray<Ask>,
  child: Answering
): Turn | undefined => {
  const { thread, open, pendingQuestion, pendingToolCalls, tasks } = context.record
  const isOpen = open !== undefined && isWaiting(open)
  const halts = asks.some(({ decision }) => decision?.type === "halt")
  const decidedFor = (id: string, at: number) => asks.filter((ask) => ask.id === id && ask.at === at)
  const own = { agent: "", chat }
  const waits = [...(isOpen ? asksIn({ thread, open }, own) : []), ...taskAsks(own, tasks)]
  const decided = waits.flatMap(({ id, ...asked }) => {
    const { decision } = asks.find((one) => one.id === id && isAbout(one, asked)) ?? {}
    return decision === undefined ? [] : [{ id, decision }]
  })
  // A halt of a question, or of a call that a person answers, is none of these: then nothing beside it runs.
  if (halts && !decided.some(({ decision }) => decision.type === "halt")) return undefined
  if (decided.length > 0)
    return child.answer({ decisions: Object.fromEntries(decided.map(({ id, decision }) => [id, decision])) })
  if (isOpen) return undefined
  const valueFor = (id: string): unknown =>
    valueOf(decidedFor(id, indexOf(thread, id)).find(({ kind }) => kind === "question" || kind === "tool_result"))
  const answer = pendingQuestion === undefined ? undefined : valueFor(pendingQuestion.toolCallId)
  const input = answer === undefined || typeof answer === "string" ? answer : JSON.stringify(shown(answer))
  if (pendingToolCalls.length > 0) {
    const results = pendingToolCalls.map(({ id }) => [id, valueFor(id)] as const)
    return results.some(([, value]) => value === undefined)
      ? undefined
      : child.answer({ results: Object.fromEntries(results), input })
  }
  if (pendingQuestion === undefined || input === undefined) return undefined
  const { toolCallId } = pendingQuestion
  return child.answer({ input }, { id: `answer-${indexOf(thread, toolCallId)}-${digest(toolCallId)}` })
}

/** The answer that a person gave; `undefined` if the decision has none. */
const valueOf = (ask: Ask | undefined): unknown => {
  const decision = ask?.decision
  if (decision?.type === "result") return decision.value
  if (decision?.type !== "deny") return undefined
  const { reason = "" } = decision
  return reason.trim() === "" ? "Nobody answers. Go on without an answer." : reason
}

/** The record of a child whose wait has no limit of its own: the call of its parent expires, not the child. */
export const withoutLimit = (record: Conversation): Conversation => {
  const { expiresAt: _, open, ...rest } = record
  const calls = open?.calls.map((call) => (call.state === "waiting" ? { ...call, expiresAt: undefined } : call))
  return open === undefined || calls === undefined ? rest : { ...rest, open: { ...open, calls } }
}

/** What the call has decided for this child (SUB10). */
export const decisionsFor = (parent: ChatContext | undefined, child: string): ChildWait | undefined => {
  const call = parent?.record.open?.calls.find((one) => one.state === "decided" && one.child?.chat === child)
  return call?.state === "decided" ? call.child : undefined
}
