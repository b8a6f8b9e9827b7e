/** The guards, actions, actors and delays of the chat's chart by their names, and the data that its actors get. */
import { StateMachine } from "@troupe/otp"
import { setup } from "xstate"
import { chatActors, chatEffects } from "./chatActors.ts"
import { afterHooks, mustAnnounce, mustBegin, mustReport, withoutHooks } from "./lifecycleHooks.ts"
import {
  arrivalsLost,
  atMoment,
  commitFailed,
  commitGivenUp,
  stored,
  recordBegun,
  recordOf,
  type StepEnd,
  stepJudged,
  stepTaken,
  stopTurn,
  turnEnded
} from "./endTurn.ts"
import { beginTurn, canSteer, steer, stillWaits, turnIn } from "./beginTurn.ts"
import type { ChatContext, ChatEvent, ChatInput, ChatOutput } from "./chatContext.ts"
import { hasExpired } from "./suspensionExpiry.ts"
import * as Inbox from "../inbox/index.ts"
import * as Mailbox from "../inbox/Mailbox.ts"
import type { Saving } from "./chatEnv.ts"
import { storeFailure } from "../errors/index.ts"
import { describe } from "../toolResult/index.ts"

export interface At {
  readonly context: ChatContext
  readonly event: ChatEvent
}

const { assign } = StateMachine

/** The event, which has one of these types. */
const as = <Type extends ChatEvent["type"]>(event: ChatEvent, ..._types: ReadonlyArray<Type>) =>
  event as Extract<ChatEvent, { readonly type: Type }>

/** The record to save. */
export const savingOf = ({ context }: { readonly context: ChatContext }): Saving => {
  const { interrupted, result, steps } = context
  const speaks = interrupted === undefined && result === undefined
  return { record: recordOf(context), steps: speaks ? steps.length : undefined }
}

export const commitOf = ({ context }: { readonly context: ChatContext }) => ({
  ...savingOf({ context }),
  turn: context.turn?.id
})

/** The wait that has expired. */
export const waitOf = ({ context }: { readonly context: ChatContext }) => {
  const { thread, open, pendingQuestion, pendingToolCalls, expiresAt, lastHaltedReason, suspendedTtlMs } = context
  return { thread, open, pendingQuestion, pendingToolCalls, expiresAt, lastHaltedReason, suspendedTtlMs }
}

const refusalFor = (context: ChatContext, turn: Inbox.TurnData | undefined) => ({
  turn: turn?.id ?? "",
  error: turn === undefined ? undefined : Inbox.refusalOf(context, turn)
})

/** The turn of the event, and why it is refused. */
export const refusalIn = ({ context, event }: At) => refusalFor(context, turnIn(event))

/** The next turn that waits, and why it is refused. */
export const refusalOfNext = ({ context }: At) => refusalFor(context, Mailbox.next(context.mailbox))

const unanswered = (event: ChatEvent): boolean => "unanswered" in event && event.unanswered

const causeOf = (event: ChatEvent): unknown => ("error" in event ? event.error : undefined)

const inputFailure = (event: ChatEvent) => {
  const cause = causeOf(event)
  return storeFailure(`The input could not be stored: ${describe(cause)}; send it again`, cause)
}

/** What a failed save decides about receipts. */
export const lostInputs = ({ context, event }: At) => ({
  ...Inbox.lostInSave(context, unanswered(event)),
  error: inputFailure(event)
})

/** What a commit decides about receipts when it succeeds, and when it fails or is given up. */
export const receipts = {
  kept: [
    {
      type: "settle",
      params: ({ context: { saves } }: At) => ({ pend: saves.doubted, fail: [] })
    },
    "keepDoubted",
    {
      type: "deliver",
      params: ({ context: { arriving, turn } }: At) => ({
        turns: arriving.flatMap(({ id, receipt }) => (receipt === undefined ? [] : [id])),
        within: turn?.id
      })
    },
    "recordCommit"
  ],
  lost: [
    {
      type: "drop",
      params: ({ context, event }: At) => ({
        ...Inbox.lostInCommit(context, unanswered(event)),
        error: inputFailure(event)
      })
    },
    "dropDoubted",
    { type: "settle", params: ({ context, event }: At) => arrivalsLost(context, event) }
  ]
} as const

const refuses = (context: ChatContext, turn = Mailbox.next(context.mailbox)): boolean =>
  turn !== undefined && Inbox.refusalOf(context, turn) !== undefined

const mustWaitNext = (context: ChatContext): boolean => {
  const next = Mailbox.next(context.mailbox)
  return next !== undefined && Inbox.mustWait(context, next)
}

const waits = (context: ChatContext): boolean =>
  stillWaits(context) ||
  context.pendingToolCalls.length > 0 ||
  (context.pendingQuestion !== undefined && context.interrupted === undefined)

const guards = {
  isLeaving: ({ context }: At) => context.leaving,
  isDone: ({ context }: At) => context.once && (context.result ?? context.refusal) !== undefined,
  canBegin: ({ context }: At) => Mailbox.next(context.mailbox) !== undefined && !refuses(context),
  mustRefuse: ({ context }: At) => !mustWaitNext(context) && refuses(context),
  refusesTurn: ({ context, event }: At) => refuses(context, turnIn(event)),
  wasAccepted: ({ context, event }: At) =>
    event.type === "turn.start" && event.turn.receipt === "pending" && Inbox.mustWait(context, event.turn),
  interrupts: ({ event }: At) => event.type === "turn.start" && event.turn.whenBusy === "interrupt",
  canSteer: ({ context }: At) => canSteer(context),
  wasRefused: (_: At, output: StepEnd) => output.type === "refused",
  wasRefusedAtOnce: ({ context: { once, steps } }: At, output: StepEnd) =>
    once && steps.length === 0 && output.type === "refused",
  hasExpired: ({ context }: At) => context.turn === undefined && hasExpired(context, context.now),
  comesTooLate: ({ context, event }: At) =>
    event.type === "turn.start" && hasExpired(context, event.now ?? context.now),
  hasQuestion: ({ context }: At) => context.pendingQuestion !== undefined,
  hasApprovals: ({ context }: At) => stillWaits(context),
  hasOpenCalls: ({ context }: At) => context.open !== undefined,
  isInterrupted: ({ context }: At) => context.interrupted !== undefined,
  hasPendingCalls: ({ context }: At) => context.pendingToolCalls.length > 0,
  mustAwait: ({ context }: At) => context.expiresAt !== undefined && !context.awaits && waits(context),
  mustSave: ({ context }: At) => Inbox.mustSave(context),
  mustKeep: ({ context: { stores, committed, turn } }: At) => stores && !committed && turn === undefined,
  mustCommit: ({ context: { stores, committed } }: At) => stores && !committed,
  hasResult: ({ context }: At) => context.result !== undefined,
  isStopped: ({ context }: At) => context.stopped !== undefined,
  mustClose: ({ context: { stopped, open } }: At) => stopped !== undefined && open !== undefined,
  mustTime: ({ context: { timed, facts } }: At) => !timed && facts.timeMs !== undefined,
  isTimed: ({ context }: At) => context.timed,
  mustBegin: ({ context }: At) => mustBegin(context),
  mustAnnounce: ({ context }: At) => mustAnnounce(context),
  mustReport: ({ context }: At) => mustReport(context),
  isRefused: ({ context: { once, result, refusal } }: At) => once && refusal !== undefined && result === undefined
}

export const chatSetup = setup({
  types: {
    context: {} as ChatContext,
    input: {} as ChatInput,
    events: {} as ChatEvent,
    output: {} as ChatOutput
  },
  actors: chatActors,
  delays: {
    drain: ({ context }) => context.facts.drainMs,
    deadline: ({ context }) => context.facts.timeMs ?? 0,
    expiry: ({ context: { expiresAt = 0, now } }) => Math.max(0, expiresAt - now)
  },
  guards,
  actions: {
    ...chatEffects,
    beginTurn: assign(({ context, event }) => beginTurn(context, turnIn(event))),
    beginNext: assign(({ context }) => beginTurn(context, undefined)),
    recordBegun: assign(({ context, event }) => recordBegun(context, as(event, "turn.begun"))),
    enqueue: assign(({ context, event }) => {
      const turn = turnIn(event)
      return turn === undefined ? {} : Inbox.accepted(context, turn)
    }),
    refuseNext: assign(({ context }) => ({ mailbox: Mailbox.withoutNext(context.mailbox) })),
    noteTime: assign(({ context, event }) => atMoment(context, as(event, "turn.start"))),
    startSave: StateMachine.spawnChild("saveInbox", { id: "inbox", input: savingOf }),
    saveBegun: assign(({ context }) => Inbox.saveBegun(context)),
    endSave: StateMachine.stopChild("inbox"),
    saved: assign(({ context }) => Inbox.saved(context)),
    notSaved: assign(({ context, event }) => Inbox.notSaved(context, unanswered(event))),
    carryInbox: assign(({ context }) => Inbox.carried(context)),
    keepDoubted: assign(({ context }) => Inbox.doubtedKept(context)),
    dropDoubted: assign(({ context, event }) => Inbox.doubtedLost(context, unanswered(event))),
    steer: assign(({ context }) => steer(context)),
    cancelRunning: StateMachine.raise({ type: "turn.cancel" }),
    markCancelled: assign({ stopped: "cancelled" }),
    markOutOfTime: assign(({ context }) => ({ stopped: context.stopped ?? "budget_time" })),
    markLeaving: assign({ leaving: true }),
    markTimed: assign({ timed: true }),
    startTime: StateMachine.raise({ type: "turn.deadline" }, { id: "deadline", delay: "deadline" }),
    stopTime: StateMachine.cancel("deadline"),
    recordCommit: assign(({ context, event }) => ({
      ...atMoment(context, as(event, "commit.ended")),
      ...stored(context)
    })),
    giveUpCommit: assign(({ context }) => commitGivenUp(context)),
    /** The turn ends with the store's error; its messages stay in memory, and are committed with the next turn. */
    recordCommitFailure: assign(({ context, event }) => {
      const failed = as(event, "commit.failed")
      const at = atMoment(context, failed)
      return { ...at, ...commitFailed({ ...context, ...at }, failed) }
    }),
    recordStep: assign(({ context }, output: StepEnd) => stepTaken(context, output)),
    recordRefusal: assign((_, output: StepEnd) => ({
      refusal: output.type === "refused" ? output.error : undefined
    })),
    recordJudgement: assign(({ context, event }) => stepJudged(context, as(event, "step.judged"))),
    recordClosed: assign(({ context, event }) => ({
      ...as(event, "calls.closed").closed,
      ...atMoment(context, as(event, "calls.closed"))
    })),
    dropTurn: assign({ turn: undefined }),
    recordHooks: assign(({ context, event }) => afterHooks(context, as(event, "hooks.answered"))),
    skipHooks: assign(({ context }) => withoutHooks(context)),
    cancelStep: StateMachine.sendTo("step", { type: "step.cancel" }),
    showReply: assign(({ event }) => ({ partial: { text: as(event, "reply.grew").text } })),
    recordStop: assign(({ context }) => stopTurn(context)),
    endTurn: assign(({ context, event }) => turnEnded(context, as(event, "events.taken"))),
    awaitExpiry: StateMachine.raise({ type: "suspension.expired" }, { id: "expiry", delay: "expiry" }),
    markAwaiting: assign({ awaits: true }),
    markAnswered: assign({ awaits: false }),
    forgetExpiry: StateMachine.cancel("expiry"),
    recordExpiry: assign(({ event }) => {
      const { expired, now } = as(event, "wait.closed")
      return { ...expired, now, committed: false }
    }),
    recordMode: assign(({ event }) => ({ standing: as(event, "mode.changed").standing })),
    markKept: assign({ committed: true })
  }
})
