/** The guards of the chat's chart. */
import type { ChatContext, ChatEvent } from "./chatContext.ts"
import { canSteer, stopOf } from "./transitions.ts"
import { mustAnnounce, mustBegin, mustReport } from "./lifecycleHooks.ts"
import { isWaiting, type StepOutput } from "../step/index.ts"
import { hasExpired } from "./suspensionExpiry.ts"
import { mustWait, refusalOf } from "../inbox/index.ts"

interface At {
  readonly context: ChatContext
  readonly event: ChatEvent
}

export const guards = {
  isLeaving: ({ context }: At) => context.leaving,
  isDone: ({ context }: At) => context.once && (context.result ?? context.refusal) !== undefined,
  canBegin: ({ context }: At) =>
    context.mailbox.next !== undefined && refusalOf(context, context.mailbox.next) === undefined,
  mustRefuse: ({ context }: At) =>
    context.mailbox.next !== undefined &&
    !mustWait(context, context.mailbox.next) &&
    refusalOf(context, context.mailbox.next) !== undefined,
  refusesTurn: ({ context, event }: At) => event.type === "turn.start" && refusalOf(context, event.turn) !== undefined,
  wasAccepted: ({ context, event }: At) =>
    event.type === "turn.start" && event.turn.delivery?.status === "pending" && mustWait(context, event.turn),
  interrupts: ({ event }: At) => event.type === "turn.start" && event.turn.delivery?.whenBusy === "interrupt",
  canSteer: ({ context }: At) => canSteer(context),
  wasRefusedAtOnce: ({ context: { once, steps } }: At, output: StepOutput) =>
    once && steps.length === 0 && output.type === "refused",
  hasExpired: ({ context }: At) => context.turn === undefined && hasExpired(context),
  hasQuestion: ({ context }: At) => context.pendingQuestion !== undefined,
  hasApprovals: ({ context: { open } }: At) => open !== undefined && isWaiting(open),
  hasOpenCalls: ({ context }: At) => context.open !== undefined,
  isInterrupted: ({ context }: At) => context.interrupted !== undefined,
  hasPendingCalls: ({ context }: At) => context.pendingToolCalls.length > 0,
  mustCommit: ({ context }: At) => context.commit !== undefined && !context.committed,
  hasResult: ({ context }: At) => context.result !== undefined,
  isStopped: ({ context }: At) => stopOf(context) !== undefined,
  mustTime: ({ context: { timed, turn } }: At) => !timed && turn?.options.budget?.timeMs !== undefined,
  isTimed: ({ context }: At) => context.timed,
  mustBegin: ({ context }: At) => mustBegin(context),
  mustAnnounce: ({ context }: At) => mustAnnounce(context),
  mustReport: ({ context }: At) => mustReport(context),
  isRefused: ({ context: { once, result, refusal } }: At) => once && refusal !== undefined && result === undefined
}
