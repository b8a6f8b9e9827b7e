/** The changes of a chat's context: when turns begin, when steps end, and when the store answers. */
import { Clock } from "@troupe/otp"
import {
  closed,
  decide,
  firstExpiry,
  goingOn,
  isWaiting,
  leftOut,
  manualOf,
  pendingApprovalsOf,
  revived,
  type StepLive,
  type StepOutput,
  type StepStart,
  withCallersResults
} from "../step/index.ts"
import type {
  BeginState,
  ChatContext,
  ChatInput,
  ChatOutput,
  ClosingState,
  EndState,
  NextStepState,
  RecordState,
  StableState,
  SteerState,
  StopState
} from "./chatContext.ts"
import { type PreflightError, SessionError, storeFailure } from "../errors/index.ts"
import { type ChatRecord, type ChatResult, isInjected, isNudge, type OpenStep } from "../record/index.ts"
import type { Event } from "../events/index.ts"
import { answered, type Message } from "../model/index.ts"
import * as Thread from "../model/Thread.ts"
import * as Usage from "../model/Usage.ts"
import {
  allTaken,
  type InboxState,
  isUnanswered,
  Mailbox,
  taking,
  takingSteers,
  type Turn,
  withdrawn
} from "../inbox/index.ts"
import { withAnswer } from "./questionAnswer.ts"
import {
  awaitingApproval,
  budgetSpent,
  chatResult,
  finalized,
  isFollowed,
  nudged,
  passOptions,
  type Standing,
  stopping,
  type Terminal,
  terminalCondition,
  unfinalized
} from "../stopConditions/index.ts"
import { interruptionOf, withCutOff } from "./interruption.ts"
import { PermissionMode } from "../gate/index.ts"
import { boundedBy, expiryOf, found } from "./suspensionExpiry.ts"
import { notifiedOnce, unnotified } from "./hookProgress.ts"
import { withoutUnsavable } from "../store/index.ts"
import { original } from "../values/index.ts"
import { describe } from "../toolResult/index.ts"

/** The first context of a chat: from a record, or with a turn to run. */
export const initialContext = (input: ChatInput): ChatContext => {
  const {
    id,
    engine,
    record,
    thread,
    turn,
    commit,
    watcher,
    suspendedTtlMs,
    clock = Clock.live,
    answer,
    cutOff
  } = input
  const before = record === undefined ? undefined : revived(record, engine, clock.now())
  const open = boundedBy({ suspendedTtlMs, clock }, before?.open)
  const pendingQuestion = before?.pendingQuestion
  const pendingToolCalls = before?.pendingToolCalls ?? []
  const context: ChatContext = {
    id,
    engine,
    thread: before?.thread ?? thread ?? Thread.empty,
    usage: record?.usage ?? Usage.empty,
    turn: undefined,
    mailbox: turn === undefined ? Mailbox.holding(record?.inbox) : Mailbox.empty.add(turn),
    keeper: undefined,
    arriving: nobody,
    before: undefined,
    unstored: undefined,
    inputs: record?.inputs ?? noIds,
    known: record?.known ?? noIds,
    steps: [],
    cancelled: false,
    outOfTime: false,
    timed: false,
    notified: unnotified,
    aside: undefined,
    firstPass: undefined,
    committed: true,
    result: undefined,
    refusal: undefined,
    failure: undefined,
    lastHaltedReason: record?.lastHaltedReason,
    pendingQuestion,
    pendingToolCalls,
    open,
    journal: undefined,
    interrupted: interruptionOf(record, { open, pendingQuestion, pendingToolCalls }, cutOff),
    modeKeeper: new PermissionMode(record?.permissionMode),
    expiresAt: record?.expiresAt ?? (open === undefined ? undefined : firstExpiry(open)),
    once: turn !== undefined,
    leaving: false,
    commit,
    watcher,
    suspendedTtlMs,
    clock,
    answer: answer ?? "user_message"
  }
  return found(context, input)
}

const nobody: ReadonlyArray<Turn> = []
const noIds: ReadonlyArray<string> = []

/** Begins a turn: the given one, or the first that waits. An interrupt behind it cancels it as it begins. */
export const beginTurn = (
  context: InboxState & BeginState & EndState & Pick<ChatContext, "notified">,
  started: Turn | undefined
): Partial<ChatContext> => {
  const next = started ?? context.mailbox.next
  if (next === undefined) return {}
  next.outlet.begin()
  next.options.trace?.chatBegan()
  const waiting = started === undefined ? context.mailbox.withoutNext() : context.mailbox.release(started)
  const { mailbox, before, arriving, unstored, inputs, known } = taking(context, next, waiting)
  const { thread, open } = answering(context, next, opening(context, next))
  const begun = {
    turn: next,
    thread,
    mailbox,
    before,
    arriving,
    unstored,
    inputs,
    known,
    pendingToolCalls: open === undefined ? [] : manualOf({ thread, open }),
    open,
    journal: undefined,
    expiresAt: undefined,
    steps: [],
    cancelled: mailbox.interrupts,
    outOfTime: false,
    timed: false,
    notified: notifiedOnce(context.notified),
    aside: undefined,
    firstPass: undefined,
    committed: false,
    result: undefined,
    refusal: undefined,
    failure: undefined,
    interrupted: undefined
  }
  if (open === undefined || !isWaiting(open)) return begun
  // Other calls still wait: the turn ends after storing the decision.
  return { ...begun, ...ended({ ...context, ...begun }, awaitingApproval(pendingApprovalsOf(context.thread, open))) }
}

/** The open step that a turn continues with. A user message ends a halt that had not taken effect. */
const opening = (
  { thread, open }: Pick<ChatContext, "thread" | "open">,
  { decisions, messages }: Turn
): OpenStep | undefined => {
  if (open === undefined) return undefined
  if (decisions !== undefined) return decide({ thread, open }, decisions)
  return messages.length > 0 ? goingOn(open) : open
}

/** The thread and open step at the beginning of a turn: its tool results become results of the open step. */
const answering = (
  context: BeginState,
  turn: Turn,
  open: OpenStep | undefined
): { readonly thread: Thread.Thread; readonly open: OpenStep | undefined } => {
  if (open === undefined) return { thread: beginning(context, turn), open }
  const opened = withCallersResults({ thread: context.thread, open }, turn.messages)
  const messages = turn.messages.filter(({ role }) => role !== "tool")
  return { thread: beginning({ ...context, thread: opened.thread }, { ...turn, messages }), open: opened.open }
}

/** The thread at the beginning of a turn. A retry of an input that could not be stored sends it again. */
export const beginning = (context: BeginState, turn: Turn): Thread.Thread => {
  const { pendingQuestion, unstored, answer, open, interrupted } = context
  if (turn.retry === true && unstored !== undefined) return beginning(context, { ...unstored, retry: false })
  const thread = withCutOff(context.thread, interrupted, turn)
  const [said, ...behind] = turn.messages
  if (pendingQuestion !== undefined && said?.role === "user") {
    return Thread.append(withAnswer(thread, pendingQuestion, said, answer), ...behind)
  }
  const drops = turn.retry === true && open === undefined
  const kept = drops ? thread.messages.findLastIndex((message) => isAsking(message)) + 1 : undefined
  const from = kept === undefined ? thread : { ...thread, messages: thread.messages.slice(0, kept) }
  return turn.messages.reduce(withMessage, from)
}

/** Adds a message; a tool result goes after the call it answers, before a question that follows. */
const withMessage = (thread: Thread.Thread, message: Message): Thread.Thread =>
  message.role === "tool" ? answered(thread, message) : Thread.append(thread, message)

/** Whether a reply answers the message: a user message, the messages that hooks added after it, or a tool message. */
const isAsking = (message: Message): boolean =>
  isInjected(message)
    ? isInjected(message, "UserPromptSubmit")
    : message.role === "tool" || (message.role === "user" && !isNudge(message))

/** Whether an input waits to join the turn, and the turn can take it; the second pass, which is one request, cannot. */
export const canSteer = (context: SteerState): boolean =>
  context.mailbox.steers &&
  context.result === undefined &&
  context.firstPass === undefined &&
  context.arriving.length === 0 &&
  stopOf(context) === undefined

/** Adds the steering inputs to the running turn. */
export const steer = (context: InboxState & Pick<ChatContext, "notified">): Partial<ChatContext> => ({
  ...takingSteers(context),
  thread: Thread.append(context.thread, ...context.mailbox.steering.flatMap(({ messages }) => messages)),
  notified: context.notified.prompted ? { ...context.notified, prompted: false } : context.notified,
  committed: false
})

/** Why the turn is to stop, if it is. An aborted signal stops it at once, before its `turn.cancel` arrives. */
export const stopOf = ({ cancelled, outOfTime, turn }: StopState): Standing["stopped"] =>
  cancelled || turn?.options.signal?.aborted === true ? "cancelled" : outOfTime ? "budget_time" : undefined

/** Stops the turn before its next step; its open calls do not run. */
export const stopped = (
  context: StopState & EndState & Pick<ChatContext, "pendingToolCalls">
): Partial<ChatContext> => {
  const { open, turn } = context
  const { options } = turnOf(context)
  const rest =
    open === undefined || turn === undefined
      ? {}
      : closed({ ...context, open }, (toolCall, call) => leftOut(toolCall, call, "cancelled", options).message)
  const { pendingToolCalls } = context
  const terminal = { ...stopping(stopOf(context) ?? "cancelled", options), pendingToolCalls }
  return { ...rest, ...ended({ ...context, ...rest }, terminal) }
}

/** The running turn. */
export const turnOf = ({ turn }: Pick<ChatContext, "turn">): Turn => {
  if (turn === undefined) throw new Error("a chat runs without a turn")
  return turn
}

/** The input of the next step. */
export const stepInput = (context: NextStepState): StepLive & StepStart => {
  const { engine, thread, watcher, firstPass, aside, modeKeeper: permissionMode } = context
  const { options, outlet } = turnOf(context)
  const pass = passOptions(options, firstPass)
  const { journal } = context
  return aside === undefined
    ? { engine, thread, options: pass, outlet, watcher, journal, permissionMode }
    : {
        engine,
        thread,
        options: { ...pass, ...aside.params },
        outlet,
        watcher,
        journal,
        permissionMode,
        aside: aside.messages
      }
}

/** The context after a step, with the result of the turn if the step was the last. */
export const afterStep = (
  context: SteerState & EndState & Pick<ChatContext, "usage" | "notified">,
  output: StepOutput
): Partial<ChatContext> => {
  if (output.type === "refused") return refused(context, original(output.error))
  const { firstPass } = context
  const { options } = turnOf(context)
  const result = original(output.result)
  const steps = [...context.steps, result]
  const said = {
    thread: result.thread,
    usage: Usage.add(context.usage, result.response.usage),
    steps,
    open: boundedBy(context, output.open),
    committed: false,
    ...(context.notified.announced ? { notified: { ...context.notified, announced: false }, aside: undefined } : {})
  }
  const index = context.steps.length - (firstPass?.steps.length ?? 0)
  const standing = { stopped: stopOf(context), steps }
  const terminal = terminalCondition(result, index, passOptions(options, firstPass), standing)
  if (terminal === undefined || isSteeredOn(context, terminal, steps)) return said
  if (firstPass === undefined && isFollowed(options, terminal)) {
    const spent = options.budget === undefined ? undefined : budgetSpent(options.budget, steps)
    if (spent !== undefined) return { ...said, ...ended({ ...context, ...said }, spent) }
    return { ...said, thread: nudged(said.thread, options), firstPass: chatResult(said.thread, steps, terminal) }
  }
  return { ...said, ...ended({ ...context, ...said }, terminal) }
}

/** Whether a turn that has its final answer continues with a steering input. */
const isSteeredOn = (context: SteerState, { reason }: Terminal, steps: ChatContext["steps"]): boolean => {
  if (reason !== "completed" || !canSteer(context)) return false
  const { maxTurns, budget } = turnOf(context).options
  return steps.length < maxTurns && (budget === undefined || budgetSpent(budget, steps) === undefined)
}

/** Ends the turn after a step that could not begin: with its error or, in the second pass, with the result of the first. */
const refused = (context: EndState, error: PreflightError): Partial<ChatContext> => {
  const { firstPass } = context
  if (firstPass === undefined) return { ...ended(context, { reason: "error", metadata: { error } }), refusal: error }
  return { ...endedWith(context, unfinalized(firstPass, error)), refusal: error }
}

/** The context is stored, so the inputs that arrived are delivered. */
export const committed = (context: Pick<ChatContext, "turn" | "arriving">): Partial<ChatContext> =>
  context.arriving.length === 0
    ? { committed: true, journal: undefined }
    : { committed: true, journal: undefined, ...allTaken(context) }

/**
 * Ends the turn with the store's error. The chat keeps waiting for what is pending. Inputs that were not stored go back to
 * the mailbox or their sender. A step that can never be stored is dropped.
 */
export const commitFailed = (
  context: EndState & Pick<ChatContext, "arriving" | "before" | "mailbox" | "pendingToolCalls" | "expiresAt">,
  event: object
): Partial<ChatContext> => {
  const cause: unknown = "error" in event ? event.error : undefined
  const failure = storeFailure(`The chat could not be stored: ${describe(cause)}; retry() tries again`, cause)
  const back = withdrawn(context, failure, isUnanswered(cause))
  const taken = { ...context, ...back }
  const dropped = withoutUnsavable(taken)
  const from = { ...taken, ...dropped }
  const { pendingQuestion, pendingToolCalls } = from
  const failed = ended(from, { reason: "error", metadata: { error: failure } })
  const expiresAt = from.expiresAt ?? expiryOf(context, from)
  return { ...back, ...dropped, ...failed, pendingQuestion, pendingToolCalls, expiresAt, committed: true, failure }
}

/** A turn that is to stop no longer waits for the store. */
export const commitGivenUp = (
  context: Pick<ChatContext, "turn" | "arriving" | "before" | "mailbox">
): Partial<ChatContext> => ({
  committed: true,
  ...withdrawn(
    context,
    new SessionError("store_failed", "The store gave no answer before the turn had to stop; send again")
  )
})

/** Ends the turn for this reason. */
export const ended = (context: EndState, terminal: Terminal): Partial<ChatContext> => {
  const pendingApprovals = pendingApprovalsOf(context.thread, context.open)
  const result = chatResult(
    context.thread,
    context.steps,
    pendingApprovals.length === 0 ? terminal : { ...terminal, pendingApprovals }
  )
  return endedWith(context, finalized(result, turnOf(context).options, context.firstPass))
}

const endedWith = (
  context: Pick<ChatContext, "open" | "pendingQuestion" | "modeKeeper" | "suspendedTtlMs" | "clock">,
  came: ChatResult
): Partial<ChatContext> => {
  const standing = context.modeKeeper.standing
  const result = standing === undefined ? came : { ...came, permissionMode: standing.mode }
  const pendingQuestion =
    result.pendingQuestion ?? (result.haltedReason === "cancelled" ? context.pendingQuestion : undefined)
  const { pendingToolCalls } = result
  return {
    result,
    committed: false,
    thread: result.thread,
    lastHaltedReason: result.haltedReason,
    pendingQuestion,
    pendingToolCalls,
    expiresAt: expiryOf(context, { pendingQuestion, pendingToolCalls, open: context.open })
  }
}

/** The last events of a turn: for a step that could not begin or a store that failed, first an `error` event. */
export const closingEvents = ({ result, refusal, failure }: ClosingState): ReadonlyArray<Event> => {
  const completed: ReadonlyArray<Event> = result === undefined ? [] : [{ type: "chat_completed", result }]
  const error = failure ?? refusal
  return error === undefined ? completed : [{ type: "error", error }, ...completed]
}

/** The record of a chat; while tools that write run, with their journal. */
export const recordOf = (context: RecordState): ChatRecord => {
  const now = context.journal?.journalled
  return now === undefined
    ? { ...recordWith(context, context), draft: draftOf(context) }
    : recordWith(context, { ...now, usage: Usage.add(context.usage, now.usage) })
}

const recordWith = (
  context: StableState,
  { thread, usage, open }: Pick<ChatContext, "thread" | "usage" | "open">
): ChatRecord => ({
  id: context.id,
  thread,
  usage,
  running: (context.turn !== undefined && context.result === undefined) || context.interrupted !== undefined,
  lastHaltedReason: context.lastHaltedReason,
  pendingQuestion: context.pendingQuestion,
  pendingToolCalls: context.pendingToolCalls,
  inbox: filled(context.mailbox.entries),
  inputs: filled(context.inputs),
  known: filled(context.known),
  expiresAt: context.expiresAt,
  open,
  permissionMode: context.modeKeeper.standing
})

/** The text of an interrupted reply, or of the reply that streams now (INT2). */
const draftOf = ({ interrupted, result, steps, watcher }: RecordState): string | undefined =>
  (interrupted === undefined && result === undefined ? watcher?.said?.(steps.length) : interrupted?.text) || undefined

const filled = <A>(list: ReadonlyArray<A>): ReadonlyArray<A> | undefined => (list.length === 0 ? undefined : list)

/** The output of a chat. */
export const outputOf = ({ result, refusal, leaving }: ClosingState): ChatOutput => {
  if (leaving) return { type: "left" }
  if (result !== undefined) return { type: "completed", result }
  if (refusal !== undefined) return { type: "refused", error: refusal }
  throw new Error("a chat ended without a result")
}
