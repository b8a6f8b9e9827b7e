/**
 * The changes of a chat's context when a chat starts, when a turn begins, and when inputs join it; what is kept of an
 * interrupted turn.
 *
 * CHAT7. An input that steers joins the running turn before its next request, after the results of the step before. A turn
 *        that has its final answer continues with the input, within `maxTurns` and its budget. If the turn ends otherwise,
 *        or is in its second pass, the input is queued.
 * CHAT13. A chat whose calls wait for decisions sends no request and runs no tool. Each decision is stored. After the last
 *         one the turn continues with those calls, without a new request for them.
 * INT1. A chat that starts from a record with a running turn is interrupted until the next turn begins, unless it waits for
 *       a person or for results. Its records keep that, however often they are saved and loaded. The next input is no answer to a
 *       question that the interrupted turn had the answer of.
 * INT2. The known text of the interrupted reply is shown and saved. The next input adds it to the thread, as a cancelled
 *       reply. Only a retry discards it.
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
  type OpenStep,
  type AgentRef,
  type ModeStanding
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
import * as Equal from "effect/Equal"
import type { AssistantMessage } from "../model/index.ts"
import type { Journal, Opened } from "../step/index.ts"
import { original } from "../values/index.ts"

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
export const canSteer = ({
  context: { inbox, before, result, turn, firstPass, stopped, record }
}: {
  readonly context: ChatContext
}): boolean =>
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
export const renewsTime = ({ context }: { readonly context: ChatContext }): boolean =>
  context.timed &&
  context.record.chain !== undefined &&
  canSteer({ context }) &&
  Inbox.steering(context.inbox).some((turn) => !isRuntimeInput(turn))

/** Whether a turn brings results and no answer: a question that the chat asks stays, under its name (MAIL7). */
export const leavesQuestion = ({ messages }: TurnData): boolean =>
  messages.length > 0 && messages.every(({ role }) => role === "tool")

/** Whether calls of the turn that begins still wait for a decision: then it ends after storing its own decision. */
export const stillWaits = ({ open }: Pick<Conversation, "open">): boolean => open !== undefined && isWaiting(open)

/** Whether a chat that starts from this record was interrupted (INT1). */
export const isInterruption = (
  record: Conversation,
  { open, pendingQuestion, pendingToolCalls }: Pick<Conversation, "open" | "pendingQuestion" | "pendingToolCalls">
): boolean =>
  record.running &&
  pendingToolCalls.length === 0 &&
  (open === undefined || !isWaiting(open)) &&
  // The interrupted step asked this question. A question in the record was answered by the turn that began, so it does
  // not count.
  pendingQuestion === record.pendingQuestion

/**
 * The text of the previous process's reply, if the store does not have it: the streamed text, or the text of a step that
 * was not stored. `undefined` if the record belongs to another turn.
 */
export const cutOffBy = (
  context: Pick<ChatContext, "record" | "turn" | "steps">,
  streamed: string,
  record: Conversation
): string | undefined => {
  const { inputs, thread, draft } = context.record
  if (!record.running || record.open !== undefined || record.inputs?.at(-1) !== inputs?.at(-1)) return undefined
  const known = record.thread.messages.length
  const said =
    known === thread.messages.length
      ? streamed || (isInterrupted(context) ? draft : undefined)
      : known < thread.messages.length
        ? context.steps.map(original).at(-1)?.response.outputText
        : undefined
  return said === undefined || said === "" || said === record.draft ? undefined : said
}

/** The thread at the beginning of a turn: a user message comes after the text of the interrupted reply (INT2). */
const withCutOff = (
  context: Pick<ChatContext, "record" | "turn">,
  { messages }: Pick<TurnData, "messages">
): Thread.Thread => {
  const { thread, draft = "" } = context.record
  return !isInterrupted(context) || draft === "" || messages[0]?.role !== "user"
    ? thread
    : Thread.append(thread, cutShort(draft))
}

/** The interrupted reply, in the form of a cancelled reply. */
const cutShort = (content: string): AssistantMessage => ({
  role: "assistant",
  content,
  metadata: { finish_reason: null, cancelled: true, interrupted: true }
})

/** What the environment of a chat's process knew, and no record has. */
interface Recalled {
  readonly journal: Journal | undefined
  readonly standing: ModeStanding | undefined
  readonly agentIn: (opened: Opened, agent: AgentRef | undefined, before: OpenStep | undefined) => AgentRef | undefined
}

/** A handoff whose result came after the save. */
const withHandoff = (known: Recalled, record: Conversation, recalled: Conversation): Conversation => {
  const { thread, open, agent } = recalled
  if (recalled === record || open === undefined) return recalled
  const now = known.agentIn({ thread, open }, agent, record.open)
  return now === agent ? recalled : { ...recalled, agent: now }
}

/** The record with what the process before knew of its running calls and of its permission mode; the same record when it has all. */
export const recalledBy = (known: Recalled, record: Conversation): Conversation => {
  const { journal, standing } = known
  const recalled = withHandoff(known, record, journal?.recall(record) ?? record)
  const isKept = standing === undefined || Equal.equals(standing, record.permissionMode)
  return isKept ? recalled : { ...recalled, permissionMode: standing }
}
