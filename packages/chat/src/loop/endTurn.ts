/**
 * The changes of a chat's context when steps and turns end, and when the store answers.
 *
 * CHAT4. A question stays pending until a later turn ends other than by cancel.
 * CHAT16. Every request is of the agent in the context at its beginning. A handoff of the model is in the commit of its step. A
 *         handoff of the host is a commit of its own, or part of the commit that is due. Open calls belong to the agent whose
 *         model made them, whatever the agent is when they run.
 */
import type { Event } from "../events/index.ts"
import {
  pendingApprovalsOf,
  withoutUnsavable,
  awaitingApproval,
  chainNow,
  chatResult,
  finalized,
  hasTwoPasses,
  isFollowed,
  nudged,
  stopping,
  type Terminal,
  timeOf,
  unfinalized
} from "../step/index.ts"
import type { ChatContext, ChatEvent, ChatOutput, Judgement, Moment, StepEnded } from "./chatContext.ts"
import { isStoreRefusal, type PreflightError, type SessionError, storeFailure } from "../errors/index.ts"
import {
  type BackgroundTask,
  begunBy,
  type Conversation,
  type ChatResult,
  type InboxEntry,
  type StepResult,
  unended
} from "../record/index.ts"
import { held, type Held, original, describe } from "../values/index.ts"
import * as Inbox from "../inbox/Inbox.ts"
import * as Usage from "../model/Usage.ts"
import { delivered, hasBegun, lost, type LostInputs, rowless, unknownOutcome, withdrawn } from "../inbox/index.ts"
import { boundedBy, expiryOf } from "./suspensionExpiry.ts"
import { canSteer, leavesQuestion, noFacts, silent, stillWaits } from "./beginTurn.ts"

/** The context at a moment: its time, and a turn whose signal is aborted is to stop. */
export const atMoment = (
  { now, stopped }: Pick<ChatContext, "now" | "stopped">,
  event: Partial<Moment>
): Pick<ChatContext, "now" | "stopped"> => ({
  now: event.now ?? now,
  stopped: event.aborted === true ? "cancelled" : stopped
})

/**
 * The turn has begun. It ends after its input is stored if other calls or a question still wait (MAIL7), or if its chain has nothing left
 * (CHAIN1).
 */
export const recordBegun = (
  context: ChatContext,
  event: Extract<ChatEvent, { readonly type: "turn.begun" }>
): Partial<ChatContext> => {
  const { compacting } = event.facts
  const byHand = context.turn?.compacts === true && { compacting: { ...compacting, byHand: true } }
  const facts = { ...event.facts, beganAt: event.now, ...byHand }
  const at = { ...atMoment(context, event), facts, stores: facts.stores ?? context.stores }
  const { turn, record } = context
  const { pendingQuestion } = record
  if (!stillWaits(record)) {
    if (pendingQuestion !== undefined && turn !== undefined && leavesQuestion(turn)) {
      return { ...at, ...ended({ ...context, ...at }, { reason: "ask_user", metadata: {}, pendingQuestion }) }
    }
    const spent = record.open === undefined && event.spent !== undefined ? original(event.spent) : undefined
    return spent === undefined ? at : { ...at, ...ended({ ...context, ...at }, spent) }
  }
  const { thread, open, pendingToolCalls } = record
  const waits = { ...awaitingApproval(pendingApprovalsOf(thread, open)), pendingToolCalls }
  return { ...at, ...ended({ ...context, ...at }, waits) }
}

/** The context after a step and what was decided about it, with the result of the turn if the step was the last. */
export const stepEnded = (context: ChatContext, event: StepEnded): Partial<ChatContext> => {
  const taken = stepTaken(context, event)
  return { ...taken, ...judged({ ...context, ...taken }, event) }
}

/** The context after a step, before anything is decided about it. */
export const stepTaken = (
  context: ChatContext,
  { result: ended, open }: Pick<StepEnded, "result" | "open">
): Partial<ChatContext> => {
  const result = original(ended)
  const { notified, record } = context
  return {
    record: {
      ...record,
      thread: result.thread,
      usage: [result.response.usage, result.childUsage ?? Usage.empty].reduce(Usage.add, record.usage),
      open,
      ...(result.toolResults.some(beginsTask) ? tasksWith(record, begunBy(result.toolResults)) : {})
    },
    steps: context.steps.concat([ended]),
    step: undefined,
    committed: false,
    partial: silent,
    ...(notified.announced ? { notified: { ...notified, announced: false }, aside: undefined } : {})
  }
}

const beginsTask = ({ metadata }: StepResult["toolResults"][number]): boolean => metadata?.["task"] !== undefined

const noTasks: ReadonlyArray<BackgroundTask> = []

/** The tasks of the context and these that have not ended (TASKREC1). */
const tasksWith = (
  { tasks = noTasks, known }: Pick<Conversation, "tasks" | "known">,
  begun: ReadonlyArray<BackgroundTask>
): Pick<Conversation, "tasks"> => {
  const running = unended([...tasks, ...begun], known ?? [])
  return running.length === 0 ? { tasks: undefined } : { tasks: running }
}

const judged = (context: ChatContext, event: StepEnded): Partial<ChatContext> => {
  const { facts, firstPass, steps, record, suspendedTtlMs } = context
  const { now, stopped } = atMoment(context, event)
  const { standing, handoff, former } = event
  const { thread } = record
  const open = boundedBy({ now, suspendedTtlMs }, record.open)
  const isLate = handoff?.timeMs !== undefined && timeOf({ ...context, now }) >= handoff.timeMs
  const stops = stopped ?? (isLate ? ("budget_time" as const) : undefined)
  const judgedRecord = {
    ...record,
    permissionMode: standing,
    open,
    usage: former === undefined ? record.usage : Usage.add(record.usage, former),
    ...(handoff !== undefined && { agent: handoff.agent })
  }
  const handed = handoff === undefined ? {} : handedOver(context, handoff)
  const said = { now, stopped: stops, record: judgedRecord, ...handed }
  const terminal = event.terminal === undefined ? undefined : original(event.terminal)
  if (terminal === undefined) return said
  const after = { ...context, now, stopped, record: judgedRecord }
  const goesOn =
    terminal.reason === "completed" ? canSteer({ context: after }) : stopped === undefined && followsHalt(context)
  if (goesOn && event.mayContinue) return said
  if (firstPass === undefined && hasTwoPasses(facts.finalize, thread) && isFollowed(terminal)) {
    if (event.spent !== undefined) return { ...said, ...ended(after, original(event.spent)) }
    const first = held(chatResult(thread, steps.map(original), terminal))
    return { ...said, record: { ...judgedRecord, thread: nudged(thread, facts.finalize.nudge) }, firstPass: first }
  }
  return { ...said, ...ended(after, terminal) }
}

/** Whether the last step only ran the answered calls, and one of them halted: the input beside the answers follows (ANSWERING3). */
const followsHalt = ({ turn, steps, record: { open } }: ChatContext): boolean => {
  const hasInput = turn?.decisions !== undefined && turn.messages.some(({ role }) => role === "user")
  const [first] = hasInput && steps.length === 1 && open === undefined ? steps.map(original) : []
  return first?.halt?.type === "halt" || first?.halt?.type === "tool_error"
}

/** The next request is of another agent, whose time counts from the beginning of the chain. */
const handedOver = (
  { facts }: Pick<ChatContext, "facts">,
  { timeMs, adapter }: NonNullable<Judgement["handoff"]>
): Pick<ChatContext, "facts" | "timed"> => ({ facts: { ...facts, timeMs, adapter }, timed: false })

/** Stops the turn before its next step. */
export const stopTurn = (context: ChatContext): Partial<ChatContext> => {
  const { stopped = "cancelled", facts, record } = context
  return ended(context, { ...stopping(stopped, { budget: facts }), pendingToolCalls: record.pendingToolCalls })
}

/**
 * Ends the turn after a step that could not begin: with its error or, in the second pass, with the result of the first. A chart that
 * runs one turn ends with the error of the first step.
 */
export const stepRefused = (context: ChatContext, refusal: Held<PreflightError>): Partial<ChatContext> => {
  const { firstPass, until, steps } = context
  const over = { refusal, step: undefined, partial: silent }
  if (until !== undefined && steps.length === 0) return over
  const error = original(refusal)
  if (firstPass === undefined) return { ...ended(context, { reason: "error", metadata: { error } }), ...over }
  const first = original(firstPass)
  return { ...endedWith(context, unfinalized(first, error)), ...over }
}

/**
 * A compaction has ended. The turn sends its request with it, or without it; it ends with the error of a request that no compaction makes
 * small enough, or with that of the provider.
 */
export const compactionEnded = (
  context: ChatContext,
  event: Extract<ChatEvent, { readonly type: "compaction.ended" }>
): Partial<ChatContext> => {
  const { facts, record, turn } = context
  const { thread } = record
  const { refusal: refused, ...compacting } = facts.compacting ?? {}
  const { compaction, failed = compacting.failed } = event
  const error = event.error ?? (compaction === undefined ? refused : undefined)
  const at = { ...atMoment(context, event), step: undefined }
  if (error !== undefined) return { ...at, ...stepRefused({ ...context, ...at }, error) }
  const next = { ...at, facts: { ...facts, compacting: { ...compacting, failed, at: thread.messages.length } } }
  const compacted =
    compaction === undefined
      ? next
      : { ...next, record: { ...record, thread: { ...thread, compaction } }, committed: false }
  if (turn?.compacts !== true) return compacted
  const now = { ...context, ...compacted }
  const usage = Usage.add(now.record.usage, event.usage ?? Usage.empty)
  const terminal = { reason: "completed" as const, metadata: { compacted: compaction !== undefined } }
  return {
    ...compacted,
    ...endedWith({ ...now, record: { ...now.record, usage } }, chatResult(now.record.thread, [], terminal))
  }
}

/** The context is stored, so the taken inputs are delivered. */
export const stored = ({ inbox, record }: Pick<ChatContext, "inbox" | "record">): Partial<ChatContext> => ({
  committed: true,
  ...delivered({ inbox }),
  ...(record.tasks !== undefined && { record: { ...record, ...tasksWith(record, noTasks) } })
})

/**
 * Ends the turn with the store's error. The chat keeps waiting for what is pending. Inputs that are not in the stored thread
 * wait again. A step that can never be stored is dropped.
 */
export const commitFailed = (
  context: ChatContext,
  { error: cause }: Pick<Extract<ChatEvent, { readonly type: "commit.failed" }>, "error">
): Partial<ChatContext> => {
  const error = notStored(cause)
  const back = withdrawn(context)
  const taken = { ...context, ...back }
  const dropped = savable(taken)
  const from = { ...taken, ...dropped }
  const { pendingQuestion, pendingToolCalls, expiresAt = expiryOf(context, from.record) } = from.record
  const { record = from.record, ...failed } = ended(from, { reason: "error", metadata: { error } })
  // The record is that of before a turn whose beginning is not stored.
  const running = hasBegun(context) ? record.running : from.record.running
  const kept = { ...record, running, pendingQuestion, pendingToolCalls, expiresAt }
  return { ...back, ...dropped, ...failed, record: kept, committed: true, failure: held(error) }
}

const savable = ({ steps, record }: ChatContext): Partial<ChatContext> => {
  const dropped = withoutUnsavable({ ...record, steps: steps.map(original) })
  const { steps: left, ...rest } = dropped
  return left === undefined ? {} : { record: { ...record, ...rest }, steps: steps.slice(0, left.length) }
}

/** A turn that is to stop no longer waits for the store. The end of another turn than a cancelled one is an error then (CHAT2). */
export const commitGivenUp = (context: ChatContext): Partial<ChatContext> => {
  const { result } = context
  if (result !== undefined && original(result).haltedReason !== "cancelled")
    return commitFailed(context, { error: unknownOutcome(undefined) })
  const back = { committed: true, ...withdrawn(context) }
  if (hasBegun(context)) return back
  const { record: _, ...stopped } = stopTurn({ ...context, ...back })
  return { ...back, ...stopped, committed: true }
}

/** The end of a wait could not be stored. */
export const waitUnstored = ({
  error
}: Extract<ChatEvent, { readonly type: "commit.failed" }>): Pick<ChatContext, "failure"> => ({
  failure: held(notStored(error))
})

const notStored = (cause: unknown): SessionError =>
  storeFailure(`The chat could not be stored: ${describe(cause)}; retry() tries again`, cause)

export const arrivalsLost = (context: ChatContext, event: ChatEvent): LostInputs & { readonly error: SessionError } => {
  const isAnswered = event.type === "commit.failed" && !event.unanswered
  const cause = event.type === "commit.failed" ? event.error : undefined
  return { ...lost(context), error: isAnswered ? notStored(cause) : unknownOutcome(cause) }
}

/** The inputs that have no row, or may have none, after a commit that failed or is given up; `isDoubted`: the store may have its record (DOOR3). */
export const acceptedAgain = (
  context: ChatContext,
  event: ChatEvent
): { readonly inputs: ReadonlyArray<InboxEntry>; readonly isDoubted: boolean } => ({
  inputs: rowless(context, event.type === "commit.failed" && isStoreRefusal(event.error)),
  isDoubted: event.type !== "commit.failed" || event.unanswered
})

/** Ends the turn for this reason. */
export const ended = (context: ChatContext, terminal: Terminal): Partial<ChatContext> => {
  const { steps, facts, firstPass, record } = context
  const { thread, open } = record
  const pendingApprovals = pendingApprovalsOf(thread, open)
  const result = chatResult(
    thread,
    steps.map(original),
    pendingApprovals.length === 0 ? terminal : { ...terminal, pendingApprovals }
  )
  const first = firstPass === undefined ? undefined : original(firstPass)
  return endedWith(context, hasTwoPasses(facts.finalize, thread) ? finalized(result, first) : result)
}

const endedWith = (
  context: Pick<ChatContext, "record" | "suspendedTtlMs" | "now">,
  came: ChatResult
): Partial<ChatContext> => {
  const { record } = context
  const { permissionMode: standing, open } = record
  const result = standing === undefined ? came : { ...came, permissionMode: standing.mode }
  const pendingQuestion =
    result.pendingQuestion ?? (result.haltedReason === "cancelled" ? record.pendingQuestion : undefined)
  const { pendingToolCalls } = result
  return {
    result: held(result),
    committed: false,
    record: {
      ...record,
      running: false,
      thread: result.thread,
      lastHaltedReason: result.haltedReason,
      pendingQuestion,
      pendingToolCalls,
      expiresAt: expiryOf(context, { pendingQuestion, pendingToolCalls, open })
    }
  }
}

/** The turn is over. */
export const turnEnded = (context: ChatContext, event: Partial<Moment>): Partial<ChatContext> => ({
  now: event.now ?? context.now,
  turn: undefined,
  facts: noFacts,
  record: { ...context.record, chain: chainNow(context) },
  inbox: Inbox.turnEnded(context.inbox)
})

/** The record of a chat, without its waiting inputs, and without what only its environment has of a running step. */
export const recordOf = (context: ChatContext): Conversation => {
  const { record } = context
  return {
    ...record,
    chain: chainNow(context),
    ...(record.tasks !== undefined && tasksWith(record, noTasks))
  }
}

/** The output of a chat. */
export const outputOf = ({
  result,
  refusal,
  leaving,
  until,
  steps,
  record
}: Pick<ChatContext, "result" | "refusal" | "leaving" | "until" | "steps" | "record">): ChatOutput => {
  if (leaving) return { type: "left" }
  const [step] = until === "step" ? steps : []
  if (step !== undefined) return { type: "stepped", result: step, open: record.open }
  if (result !== undefined) return { type: "completed", result }
  if (refusal !== undefined) return { type: "refused", error: refusal }
  throw new Error("a chat ended without a result")
}

/** The last events of a turn. */
export const lastEvents = ({
  result,
  failure,
  refusal
}: Pick<ChatContext, "result" | "failure" | "refusal">): ReadonlyArray<Event> => {
  const events: Array<Event> = []
  if (failure !== undefined) events.push({ type: "error", error: original(failure) })
  else if (refusal !== undefined) events.push({ type: "error", error: original(refusal) })
  if (result !== undefined) events.push({ type: "chat_completed", result: original(result) })
  return events
}
