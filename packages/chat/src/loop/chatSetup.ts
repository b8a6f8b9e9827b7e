/**
 * The guards, actions, actors and delays of the chat's chart by their names, and the data that its actors get.
 *
 * CHAT8. An interrupt cancels the running turn and runs next. An interrupt that waits behind another one cancels that one
 *        as it begins.
 * CHAT9. An input that waits has a row in the store before the chart has it. The commit that adds it to the stored thread removes
 *        the row; when that commit fails, the row is still there, and the input waits again. An input without a name of its
 *        sender that finds the chat at rest has no row: its turn begins at once. It gets a row when its first commit fails.
 * CHAT18. An input that waits may be withdrawn. Then it never runs. Its row is removed at once or, while a commit takes inputs, after it.
 */
import { StateMachine } from "@troupe/otp"
import { type DoneActorEvent, type ErrorActorEvent, setup } from "xstate"
import { chatActors, chatEffects } from "./chatActors.ts"
import { afterHooks, mustAnnounce, mustBegin, mustReport, rememberedBy, withoutHooks } from "./lifecycleHooks.ts"
import {
  acceptedAgain,
  arrivalsLost,
  atMoment,
  commitFailed,
  commitGivenUp,
  compactionEnded,
  stored,
  recordBegun,
  recordOf,
  stepEnded,
  stepRefused,
  stepTaken,
  stopTurn,
  waitUnstored,
  turnEnded
} from "./endTurn.ts"
import { beginTurn, canSteer, renewsTime, steer, stillWaits, turnIn } from "./beginTurn.ts"
import type { ChatContext, ChatEvent, ChatInput, ChatOutput } from "./chatContext.ts"
import { hasExpired, isAtWait } from "./suspensionExpiry.ts"
import { isHeldBack, isInput, isInterrupted, mustWait, nextTurn, refusalOf, type TurnData } from "../inbox/index.ts"
import * as Inbox from "../inbox/Inbox.ts"
import type { Saving } from "./chatEnv.ts"
import { over, withTask } from "../record/index.ts"
import type { AdapterStreamOutput } from "../request/index.ts"
import type { CallState, EndOfCall } from "../batch/index.ts"
import type { CallEnd, ToolCallInput } from "../call/index.ts"
import { compactingAfter, decideTasks, leadsToCompaction, type StepEnding, timeOf } from "../step/index.ts"
import { held, original } from "../values/index.ts"

export interface At {
  readonly context: ChatContext
  readonly event: ChatEvent
}

const { assign } = StateMachine

/** The event, which has one of these types. */
const as = <Type extends ChatEvent["type"]>(event: ChatEvent, ..._types: ReadonlyArray<Type>) =>
  event as Extract<ChatEvent, { readonly type: Type }>

/** The record to save. */
export const savingOf = ({ context }: { readonly context: ChatContext }): Saving => ({ record: recordOf(context) })

/** ARR4 */
const takesOf = ({ inbox, before }: ChatContext): ReadonlyArray<string> => {
  const takes = Inbox.takes(inbox)
  return before?.inputs === undefined ? takes : [...takes, ...before.inputs]
}

/** The record to commit: the rows of the inputs that it has in its thread leave with it. */
export const commitOf = ({ context }: { readonly context: ChatContext }) => ({
  ...savingOf({ context }),
  takes: takesOf(context),
  changes: rememberedBy(context),
  turn: context.turn?.id
})

/** The withdrawn turns, and the record whose save removes the rows of the inputs among them. */
export const discardOf = ({ context }: { readonly context: ChatContext }) => {
  const inputs = Inbox.discarded(context.inbox)
  return {
    inputs,
    saving: { ...savingOf({ context }), takes: inputs.flatMap(({ id, hasRow }) => (hasRow ? [id] : [])) }
  }
}

const refusalFor = (context: ChatContext, turn: TurnData | undefined) => ({
  turn: turn?.id ?? "",
  error: turn === undefined ? undefined : refusalOf(context.record, turn)
})

/** The turn of the event, and why it is refused. */
export const refusalIn = ({ context, event }: At) => refusalFor(context, turnIn(event))

/** The next turn that waits, and why it is refused. */
export const refusalOfNext = ({ context }: At) => refusalFor(context, nextTurn(context))

/** Adds the turn of the event to the inbox; its input is pending. One without a row goes back, and comes again with its row (CHAT9). */
export const enqueue = [
  "enqueue",
  {
    type: "settle",
    params: ({ event }: At) => {
      const turn = turnIn(event)
      if (turn?.direct === true) return { pend: [], fail: [], back: turn.id }
      return { pend: turn !== undefined && isInput(turn) ? [turn.id] : [], fail: [] }
    }
  }
] as const

/** What a commit decides about receipts when it succeeds, and when it fails or is given up. */
export const receipts = {
  kept: [
    {
      type: "deliver",
      params: ({ context: { inbox, turn } }: At) => ({
        turns: Inbox.taken(inbox).map(({ id }) => id),
        within: turn?.id
      })
    },
    "recordCommit"
  ],
  lost: [
    { type: "settle", params: ({ context, event }: At) => arrivalsLost(context, event) },
    {
      type: "acceptAgain",
      params: ({ context, event }: At) => acceptedAgain(context, event)
    }
  ]
} as const

/** The record whose chain is over. */
const withoutChain = ({ record }: ChatContext): Pick<ChatContext, "record"> => ({
  record: { ...record, chain: over(record.chain) }
})

const refuses = (context: ChatContext, turn: TurnData | undefined = nextTurn(context)): boolean =>
  turn !== undefined && refusalOf(context.record, turn) !== undefined

const guards = {
  isLeaving: ({ context }: At) => context.leaving,
  isDone: ({ context }: At) => context.until !== undefined && (context.result ?? context.refusal) !== undefined,
  canBegin: ({ context }: At) => nextTurn(context) !== undefined && !refuses(context),
  mustRefuse: ({ context }: At) => refuses(context),
  refusesTurn: ({ context, event }: At) => refuses(context, turnIn(event)),
  wasAccepted: ({ context, event }: At) =>
    event.type === "turn.start" && isInput(event.turn) && mustWait(context, event.turn),
  isHeldBack: ({ context, event }: At) => isHeldBack(context, turnIn(event)),
  interrupts: ({ event }: At) =>
    event.type === "turn.start" && event.turn.whenBusy === "interrupt" && event.turn.direct !== true,
  /** REF9 */
  isOfTurn: ({ context, event }: At) =>
    event.type !== "turn.cancel" || event.turn === undefined || event.turn === context.turn?.id,
  renewsTime,
  /** REF10 */
  isOfWait: ({ context, event }: At) => event.type === "wait.cancel" && event.of === context.record.inputs?.at(-1),
  isWaitingInput: ({ context, event }: At) =>
    event.type === "input.withdraw" && Inbox.isWaiting(context.inbox, event.input),
  canDiscard: ({ context: { before, inbox }, event }: At) =>
    before === undefined && event.type === "input.withdraw" && Inbox.isWaiting(inbox, event.input),
  mustDiscard: ({ context: { before, inbox } }: At) =>
    before === undefined && inbox.some(({ status }) => status === "withdrawn"),
  decidesTasks: ({ context, event }: At) =>
    decideTasks(as(event, "tasks.decided").decisions, context.record.tasks) !== undefined,
  canSteer,
  wasRefused: (_: At, output: AdapterStreamOutput) => output.type === "refused",
  mustCompact: ({ context: { facts } }: At, output: AdapterStreamOutput) =>
    facts.compacting !== undefined &&
    output.type === "refused" &&
    leadsToCompaction(original(output.error), facts.compacting),
  requestsTools: (_: At, output: AdapterStreamOutput) =>
    output.type === "exhausted" && output.read?.hasUnknownTool === false && output.read.count > 0,
  hasCallProcess: ({ context: { step }, event }: At) => {
    const { end, following, outcome, child } = step?.calls?.[as(event, "call.command").index] ?? {}
    return (end ?? following ?? outcome ?? child) === undefined
  },
  endsWithStep: ({ context }: At) => context.until === "step",
  hasExpired: ({ context }: At) => context.turn === undefined && hasExpired(context.record, context.now),
  comesTooLate: ({ context, event }: At) =>
    event.type === "turn.start" && hasExpired(context.record, event.now ?? context.now),
  hasQuestion: ({ context }: At) => context.record.pendingQuestion !== undefined,
  hasApprovals: ({ context }: At) => stillWaits(context.record),
  compactsThread: ({ context }: At) => context.turn?.compacts === true,
  hasOpenCalls: ({ context }: At) => context.record.open !== undefined,
  isInterrupted: ({ context }: At) => isInterrupted(context),
  hasPendingCalls: ({ context }: At) => context.record.pendingToolCalls.length > 0,
  mustAwait: ({ context }: At) => context.record.expiresAt !== undefined && !context.awaits && isAtWait(context),
  mustKeep: ({ context: { stores, committed, turn } }: At) => stores && !committed && turn === undefined,
  mustCommit: ({ context: { stores, committed } }: At) => stores && !committed,
  hasResult: ({ context }: At) => context.result !== undefined,
  isStopped: ({ context }: At) => context.stopped !== undefined,
  mustClose: ({ context: { stopped, record } }: At) => stopped !== undefined && record.open !== undefined,
  handsOver: ({ event }: At) => event.type === "step.ended" && event.handoff !== undefined,
  mustTime: ({ context: { timed, facts } }: At) => !timed && facts.timeMs !== undefined,
  isTimed: ({ context }: At) => context.timed,
  mustBegin,
  mustAnnounce,
  mustReport,
  isRefused: ({ context: { until, result, refusal } }: At) =>
    until !== undefined && refusal !== undefined && result === undefined
}

/** The id of the actor of a call. */
const callId = (index: number): string => `call.${index}`

const indexIn = ({ type }: { readonly type: string }): number => Number(type.slice(type.lastIndexOf(".") + 1))

/** The end of the actor of a call. */
const endIn = (event: { readonly type: string }): EndOfCall => {
  const { output, error } = event as unknown as DoneActorEvent<CallEnd> & ErrorActorEvent
  return event.type.startsWith("xstate.error") ? { type: "died", reason: held(error) } : output
}

const withCall = (step: ChatContext["step"], index: number, state: CallState): Pick<ChatContext, "step"> => {
  const calls: Array<CallState | null> = step?.calls === undefined ? [] : step.calls.slice()
  while (calls.length < index) calls.push(null)
  calls[index] = state
  return { step: { ...step, calls } }
}

/** The output of a request. */
export const outputIn = <Type extends AdapterStreamOutput["type"]>({ event }: { readonly event: DoneActorEvent }) =>
  event.output as Extract<AdapterStreamOutput, { readonly type: Type }>

/** The end of a request whose process died. */
export const diedOf = ({ event }: { readonly event: ErrorActorEvent }): StepEnding => ({
  type: "request_died",
  cause: held(event.error)
})

/** The end of a request that was refused. */
const refusedOf = ({ event }: { readonly event: DoneActorEvent }): StepEnding => ({
  type: "request_died",
  cause: held<unknown>(original(outputIn<"refused">({ event }).error))
})

/** The transition of a request that is too long. */
export const compactsFirst = {
  guard: { type: "mustCompact", params: outputIn },
  target: "planning",
  actions: [
    { type: "refuseStep", params: outputIn<"refused"> },
    { type: "recordTooLong", params: outputIn<"refused"> }
  ]
} as const

/** The transition of a request for a summary that was refused. */
export const summaryRefused = {
  guard: { type: "wasRefused", params: outputIn },
  target: "planning",
  actions: { type: "endWith", params: refusedOf }
} as const

/** How a turn that is to stop ends a compaction. */
export const stopsCompaction = {
  "turn.cancel": { guard: "isOfTurn", target: "deciding", actions: ["dropStep", "markCancelled"] },
  "turn.deadline": { target: "deciding", actions: ["dropStep", "markOutOfTime"] }
} as const

/** The calls of a message run; then the chart is in the state `target`. */
export const callingUntil = <Target extends string>(target: Target) =>
  ({
    "calls.ready": { actions: "beginCalls" },
    "call.begin": { actions: ["startCall", "recordCall"] },
    "call.command": { guard: "hasCallProcess", actions: ["commandCall", "recordCall"] },
    "call.changed": { actions: "recordCall" },
    "calls.exhausted": { target, actions: "recordCalls" }
  }) as const

/** The ends of the actors of calls, for the root of a chart. */
export const callEnds = {
  "xstate.done.actor.call.*": { actions: ["recordEnd", "reportEnd", "stopCall"] },
  "xstate.error.actor.call.*": { actions: ["recordEnd", "reportEnd", "stopCall"] }
} as const

/** Does what somebody requested, and keeps it; `saving` is the record to save now, if the coming commit does not have the change. */
export const keeps = <Action extends "recordAgent" | "endChain" | "recordChildren" | "recordTask" | "decideTasks">(
  action: Action,
  saving: (at: { readonly context: ChatContext }) => Saving | undefined
) =>
  ({
    actions: [
      action,
      {
        type: "keepAsked",
        params: ({ context, event }: At) => ({
          ask: askOf(event),
          saving: saving({ context })
        })
      }
    ]
  }) as const

export const askOf = (event: ChatEvent): number | undefined => ("ask" in event ? event.ask : undefined)

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
    deadline: ({ context }) => Math.max(0, (context.facts.timeMs ?? 0) - timeOf(context)),
    expiry: ({ context: { record, now } }) => Math.max(0, (record.expiresAt ?? 0) - now)
  },
  guards,
  actions: {
    ...chatEffects,
    beginTurn: assign(({ context, event }) => beginTurn(context, turnIn(event))),
    beginNext: assign(({ context }) => beginTurn(context, undefined)),
    recordBegun: assign(({ context, event }) => recordBegun(context, as(event, "turn.begun"))),
    enqueue: assign(({ context, event }) => {
      const turn = turnIn(event)
      return turn === undefined || turn.direct === true ? {} : { inbox: Inbox.add(context.inbox, turn) }
    }),
    withdraw: assign(({ context, event }) => {
      const { input, ask } = as(event, "input.withdraw")
      return { inbox: Inbox.withdraw(context.inbox, { id: input, ask }) }
    }),
    dropDiscarded: assign(({ context }) => ({ inbox: Inbox.withoutDiscarded(context.inbox) })),
    refuseNext: assign(({ context }) => {
      const next = nextTurn(context)
      return next === undefined ? {} : { inbox: Inbox.without(context.inbox, next) }
    }),
    hold: assign(({ context: { inbox, record }, event }) => {
      const { turn, status } = as(event, "input.held")
      const isKnown = record.inputs?.includes(turn.id) === true || inbox.some(({ id }) => id === turn.id)
      return isKnown ? {} : { inbox: Inbox.hold(inbox, turn, status) }
    }),
    noteTime: assign(({ context, event }) => atMoment(context, as(event, "turn.start"))),
    steer: assign(({ context }) => steer(context)),
    cancelRunning: StateMachine.raise({ type: "turn.cancel" }),
    markCancelled: assign(({ context, event }) => ({
      stopped: "cancelled",
      ...(event.type === "turn.cancel" && event.chain === true && withoutChain(context))
    })),
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
    recordReply: assign((_, { read }: Extract<AdapterStreamOutput, { readonly type: "exhausted" }>) => ({
      step: {
        ...read,
        ending: { type: read?.hasUnknownTool === true ? ("unknown_tool" as const) : ("answered" as const) }
      }
    })),
    endWith: assign(({ context }, ending: StepEnding) => ({ step: { ...context.step, ending } })),
    recordRefusal: assign(({ context }, { error }: Extract<AdapterStreamOutput, { readonly type: "refused" }>) =>
      stepRefused(context, error)
    ),
    recordTooLong: assign(
      ({ context: { facts } }, { error }: Extract<AdapterStreamOutput, { readonly type: "refused" }>) => ({
        facts: { ...facts, compacting: compactingAfter(error, facts.compacting) },
        step: undefined
      })
    ),
    recordCompaction: assign(({ context, event }) => compactionEnded(context, as(event, "compaction.ended"))),
    dropStep: assign({ step: undefined }),
    recordStep: assign(({ context, event }) => stepEnded(context, as(event, "step.ended"))),
    recordOnlyStep: assign(({ context, event }) => stepTaken(context, as(event, "step.ended"))),
    recordClosed: assign(({ context, event }) => ({
      record: { ...context.record, ...as(event, "calls.closed").closed },
      ...atMoment(context, as(event, "calls.closed"))
    })),
    dropTurn: assign({ turn: undefined }),
    recordHooks: assign(({ context, event }) => afterHooks(context, as(event, "hooks.answered"))),
    skipHooks: assign(({ context }) => withoutHooks(context)),
    endCancelled: assign(({ context }) => ({ step: { ...context.step, ending: { type: "cancelled" } } })),
    beginCalls: StateMachine.sendTo("calls", ({ context: { step, stopped } }: At) => ({
      type: "begin",
      calls: step?.calls ?? [],
      cancelled: stopped !== undefined
    })),
    startCall: StateMachine.spawnChild("toolCall", {
      id: ({ event }) => callId(as(event, "call.begin").index),
      input: ({ event }): ToolCallInput => {
        const { type: _, ...input } = as(event, "call.begin")
        return input
      }
    }),
    stopCall: StateMachine.stopChild(({ event }) => callId(indexIn(event))),
    commandCall: StateMachine.sendToChild(
      ({ event }) => callId(as(event, "call.command").index),
      ({ event }) => ({ type: as(event, "call.command").command })
    ),
    recordCall: assign(({ context: { step }, event }) => {
      const { index, state } = event as { readonly index: number; readonly state?: CallState }
      return withCall(step, index, state ?? step?.calls?.[index] ?? {})
    }),
    recordEnd: assign(({ context: { step }, event }) =>
      withCall(step, indexIn(event), { ...step?.calls?.[indexIn(event)], end: endIn(event) })
    ),
    recordCalls: assign(({ context: { step }, event }) => {
      const { result } = as(event, "calls.exhausted")
      return { step: { ...step, calls: undefined, ending: { type: "called", result } } }
    }),
    reportEnd: StateMachine.sendTo("calls", ({ event }) => ({
      type: "call.ended",
      index: indexIn(event),
      end: endIn(event)
    })),
    cancelCalls: StateMachine.sendTo("calls", { type: "calls.cancel" }),
    stopFinish: StateMachine.sendTo("finish", ({ context: { stopped } }: At) => ({ type: "turn.stopped", stopped })),
    showReply: assign(({ event }) => {
      const { type: _, ...partial } = as(event, "reply.grew")
      return { partial }
    }),
    recordStop: assign(({ context }) => stopTurn(context)),
    endTurn: assign(({ context, event }) => turnEnded(context, as(event, "events.taken"))),
    awaitExpiry: StateMachine.raise({ type: "suspension.expired" }, { id: "expiry", delay: "expiry" }),
    markAwaiting: assign({ awaits: true }),
    markAnswered: assign({ awaits: false }),
    forgetExpiry: StateMachine.cancel("expiry"),
    recordExpiry: assign(({ context, event }) => {
      const { expired, now } = as(event, "wait.closed")
      return { record: { ...context.record, ...expired }, now, committed: false }
    }),
    recordAgent: assign(({ context, event }) => ({
      record: { ...context.record, agent: as(event, "agent.set").agent }
    })),
    recordChildren: assign(({ context: { record }, event }) => {
      const { children, forgets } = as(event, "children.began")
      const began = [...new Set([...(record.children ?? []), ...children])]
      return { record: { ...record, children: began.filter((one) => !forgets.includes(one)) } }
    }),
    recordTask: assign(({ context: { record }, event }) => ({
      record: { ...record, tasks: withTask(record.tasks, as(event, "task.changed").task) }
    })),
    decideTasks: assign(({ context: { record }, event }) => ({
      record: { ...record, tasks: decideTasks(as(event, "tasks.decided").decisions, record.tasks) ?? record.tasks }
    })),
    endChain: assign(({ context }) => withoutChain(context)),
    recordMode: assign(({ context, event }) => ({
      record: { ...context.record, permissionMode: as(event, "mode.changed").standing }
    })),
    markKept: assign({ committed: true }),
    recordUnkept: assign(({ event }) => ({ committed: true, ...waitUnstored(as(event, "commit.failed")) }))
  }
})
