/**
 * The changes of a chat's context when a chat starts, when a turn begins, and when inputs join it.
 *
 * CHAT7. An input that steers joins the running turn before its next request, after the results of the step before. A turn
 *        that has its final answer continues with the input, within `maxTurns` and its budget. If the turn ends otherwise,
 *        or is in its second pass, the input is queued.
 * CHAT13. A chat whose calls wait for decisions sends no request and runs no tool. Each decision is stored. After the last
 *         one the turn continues with those calls, without a new request for them.
 */
import { decide, goingOn, manualOf, withCallersResults, withAnswer } from "../step/index.ts"
import type { ChatContext, ChatEvent, ChatInput, ChatStart, Notified, RunningReply, TurnFacts } from "./chatContext.ts"
import {
  causedBy,
  type Chain,
  type Conversation,
  isInjected,
  isNudge,
  isRuntimeInput,
  isWaiting,
  type OpenStep
} from "../record/index.ts"
import { answeredInOrder, type Message } from "../model/index.ts"
import * as Inbox from "../inbox/Inbox.ts"
import * as Thread from "../model/Thread.ts"
import {
  isHeldBack,
  isInterrupted,
  naming,
  nextTurn,
  questionOf,
  taking,
  takingSteers,
  type TurnData
} from "../inbox/index.ts"
import { blank } from "../store/index.ts"
import { continuing } from "../options/index.ts"
import { withCutOff } from "./interruption.ts"

const unnotified: Notified = { started: false, prompted: false, announced: false, reported: false }
const begun: Notified = { ...unnotified, started: true }

/** The state of a chat without a record. */
const fresh = (id: string, thread: Thread.Thread | undefined): ChatStart => ({
  record: { ...blank(id), ...(thread !== undefined && { thread }) },
  inbox: Inbox.empty,
  committed: true
})

/** No step runs. */
export const silent: RunningReply = { text: "", calls: [] }

/** No turn runs. */
export const noFacts: TurnFacts = { drainMs: 0, hooks: [] }

/** The state of a turn that has not done anything. */
const nothingDone = {
  facts: noFacts,
  steps: [],
  step: undefined,
  stopped: undefined,
  timed: false,
  aside: undefined,
  firstPass: undefined,
  result: undefined,
  refusal: undefined,
  failure: undefined,
  partial: silent
} as const

/** The first context of a chat. */
export const initialContext = ({ input }: { readonly input: ChatInput }): ChatContext => {
  const { id, thread, turn, start = fresh(id, thread), answer, agent } = input
  const { record } = start
  return {
    ...nothingDone,
    ...start,
    ...(turn !== undefined && { inbox: Inbox.add(Inbox.empty, turn) }),
    record: agent === undefined ? record : { ...record, agent },
    turn: undefined,
    before: undefined,
    notified: unnotified,
    awaits: false,
    now: input.now ?? 0,
    until: turn === undefined ? undefined : (input.until ?? "turn"),
    leaving: false,
    stores: input.stores ?? false,
    suspendedTtlMs: input.suspendedTtlMs,
    answer: answer ?? "user_message"
  }
}

/** The turn of an event. */
export const turnIn = (event: ChatEvent): TurnData | undefined =>
  event.type === "turn.start" ? { ...event.turn, id: event.turn.id ?? "" } : undefined

/** Begins a turn: the given one, or the first that waits. An interrupt behind it cancels it as it begins. */
export const beginTurn = (context: ChatContext, started: TurnData | undefined): Partial<ChatContext> => {
  const next = started ?? nextTurn(context)
  if (next === undefined) return {}
  const taken = taking(context, next)
  const { thread, open } = begunWith(context, naming(next))
  const { pendingQuestion, inputs = [] } = context.record
  return {
    ...nothingDone,
    ...taken,
    turn: next,
    record: {
      ...taken.record,
      ...(pendingQuestion !== undefined && leavesQuestion(next) && { inputs: [...inputs, next.id] }),
      // A program that ends in a compaction by hand has interrupted no reply.
      running: next.compacts !== true,
      draft: undefined,
      thread,
      chain: chainOf(context, next),
      open,
      pendingToolCalls: open === undefined ? [] : manualOf({ thread, open }),
      expiresAt: undefined
    },
    stopped: Inbox.hasInterrupts(taken.inbox.filter((turn) => !isHeldBack(context, turn))) ? "cancelled" : undefined,
    notified: context.notified.started ? begun : unnotified,
    committed: false
  }
}

/** What the chain used before a turn that begins; `undefined` if the turn begins a chain (CHAIN1, CHAIN2). */
const chainOf = (context: ChatContext, turn: TurnData): Chain | undefined => {
  const { chain, parent } = context.record
  const { messages, decisions, retry, renews } = turn
  if (renews === true) return undefined
  if (isRuntimeInput(turn)) return causedBy(chain)
  // A sub-agent is continued by its call.
  if (retry === true) return parent === undefined ? undefined : chain
  const hasInput = messages.some(({ role }) => role === "user")
  const continues = hasInput ? questionOf(context) !== undefined : decisions !== undefined || messages.length > 0
  return continues ? chain : undefined
}

/** Whether the turn drops the last reply, and the messages that stay then. */
const drops = ({ open }: Pick<Conversation, "open">, { retry }: TurnData): boolean =>
  retry === true && open === undefined

const keptOf = ({ messages }: Thread.Thread): number => messages.findLastIndex((message) => isAsking(message)) + 1

/** The place of the last message of a person. */
const lastSaid = ({ messages }: Thread.Thread): number =>
  messages.findLastIndex((message) => message.role === "user" && !isInjected(message) && !isNudge(message))

/** The thread without the last reply; its last message of a person gets the number of the next answer. */
const withoutReply = (thread: Thread.Thread, attempt: number | undefined): Thread.Thread => {
  const messages = thread.messages.slice(0, keptOf(thread))
  const at = lastSaid(thread)
  const said = messages[at]
  if (attempt === undefined || said?.role !== "user") return { ...thread, messages }
  const next = Math.max(attempt, (said.attempt ?? 1) + 1)
  return { ...thread, messages: messages.with(at, { ...said, attempt: next }) }
}

/** The open step that a turn continues with. A user message ends a halt that had not taken effect. */
const opening = (
  { thread, open }: Pick<Conversation, "thread" | "open">,
  { decisions, messages }: TurnData
): OpenStep | undefined => {
  if (open === undefined) return undefined
  if (decisions !== undefined) return decide({ thread, open }, decisions)
  return messages.length > 0 ? goingOn(open) : open
}

/** The thread and the open step at the beginning of a turn: its tool results become results of the open step. */
export const begunWith = (
  context: Pick<ChatContext, "record" | "turn" | "answer">,
  turn: TurnData
): { readonly thread: Thread.Thread; readonly open: OpenStep | undefined } => {
  const { record } = context
  const step = opening(record, turn)
  if (step === undefined) return { thread: beginning(context, turn), open: step }
  const { thread, open } = withCallersResults({ thread: record.thread, open: step }, turn.messages)
  const messages = turn.messages.filter(({ role }) => role !== "tool")
  return { thread: beginning({ ...context, record: { ...record, thread } }, { ...turn, messages }), open }
}

/** The thread at the beginning of a turn: its tool results go after the calls that they answer, before a question that follows. */
const beginning = (context: Pick<ChatContext, "record" | "turn" | "answer">, turn: TurnData): Thread.Thread => {
  const { answer, record } = context
  const { pendingQuestion } = record
  const cutOff = withCutOff(context, turn)
  const from = drops(record, turn) ? withoutReply(cutOff, turn.attempt) : cutOff
  const hasResults = turn.messages.some(({ role }) => role === "tool")
  const thread = hasResults
    ? turn.messages.filter((message) => message.role === "tool").reduce(answeredInOrder, from)
    : from
  const [said, ...behind] = hasResults ? turn.messages.filter(({ role }) => role !== "tool") : turn.messages
  if (said === undefined) return thread
  if (pendingQuestion === undefined || isInterrupted(context) || said.role !== "user") {
    return Thread.append(thread, said, ...behind)
  }
  const reply = continuing(thread, said)
  return Thread.append(withAnswer(thread, pendingQuestion, reply, answer), ...behind)
}

/** Whether a reply answers the message: a user message, the messages that hooks added after it, or a tool message. */
const isAsking = (message: Message): boolean =>
  isInjected(message)
    ? isInjected(message, "UserPromptSubmit")
    : message.role === "tool" || (message.role === "user" && !isNudge(message))

/**
 * Whether an input waits to join the turn, and the turn can take it; the second pass, which is one request, cannot. An input comes
 * after the results of open calls.
 */
export const canSteer = ({ inbox, before, result, turn, firstPass, stopped, record }: ChatContext): boolean =>
  result === undefined &&
  turn?.compacts !== true &&
  record.open === undefined &&
  firstPass === undefined &&
  before === undefined &&
  stopped === undefined &&
  Inbox.hasSteers(inbox)

/** Adds the steering inputs to the running turn. */
export const steer = (context: ChatContext): Partial<ChatContext> => {
  const taken = takingSteers(context)
  const turns = Inbox.taken(taken.inbox)
  const messages = turns.flatMap((turn) => naming(turn).messages)
  const { thread, chain } = context.record
  const isRenewed = !turns.every(isRuntimeInput)
  const said = Thread.append(thread, ...messages.map((message) => continuing(thread, message)))
  return {
    ...taken,
    ...(isRenewed && { timed: context.timed && chain === undefined }),
    record: { ...taken.record, thread: said, chain: isRenewed ? undefined : chain },
    notified: context.notified.prompted ? { ...context.notified, prompted: false } : context.notified,
    committed: false
  }
}

/** Whether an input that steers begins a chain, whose time is counted anew (CHAIN1). */
export const renewsTime = (context: ChatContext): boolean =>
  context.timed &&
  context.record.chain !== undefined &&
  canSteer(context) &&
  Inbox.steering(context.inbox).some((turn) => !isRuntimeInput(turn))

/** Whether a turn brings results and no answer: a question that the chat asks stays, under its name (MAIL7). */
export const leavesQuestion = ({ messages }: TurnData): boolean =>
  messages.length > 0 && messages.every(({ role }) => role === "tool")

/** Whether calls of the turn that begins still wait for a decision: then it ends after storing its own decision. */
export const stillWaits = ({ open }: Pick<Conversation, "open">): boolean => open !== undefined && isWaiting(open)
