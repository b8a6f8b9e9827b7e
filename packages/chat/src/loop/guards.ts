/** The guards of the chat's chart. */
import type { ChatContext, ChatEvent } from "./chatContext.ts"
import { canSteer, stillWaits, turnIn } from "./beginTurn.ts"
import type { StepEnd } from "./endTurn.ts"
import { mustAnnounce, mustBegin, mustReport } from "./lifecycleHooks.ts"
import { hasExpired } from "./suspensionExpiry.ts"
import * as Mailbox from "../inbox/Mailbox.ts"
import { mustSave, mustWait, refusalOf } from "../inbox/index.ts"

interface At {
  readonly context: ChatContext
  readonly event: ChatEvent
}

const refuses = (context: ChatContext, turn = Mailbox.next(context.mailbox)): boolean =>
  turn !== undefined && refusalOf(context, turn) !== undefined

const mustWaitNext = (context: ChatContext): boolean => {
  const next = Mailbox.next(context.mailbox)
  return next !== undefined && mustWait(context, next)
}

const waits = (context: ChatContext): boolean =>
  stillWaits(context) ||
  context.pendingToolCalls.length > 0 ||
  (context.pendingQuestion !== undefined && context.interrupted === undefined)

export const guards = {
  isLeaving: ({ context }: At) => context.leaving,
  isDone: ({ context }: At) => context.once && (context.result ?? context.refusal) !== undefined,
  canBegin: ({ context }: At) => Mailbox.next(context.mailbox) !== undefined && !refuses(context),
  mustRefuse: ({ context }: At) => !mustWaitNext(context) && refuses(context),
  refusesTurn: ({ context, event }: At) => refuses(context, turnIn(event)),
  wasAccepted: ({ context, event }: At) =>
    event.type === "turn.start" && event.turn.receipt === "pending" && mustWait(context, event.turn),
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
  mustSave: ({ context }: At) => mustSave(context),
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
