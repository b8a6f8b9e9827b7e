/** Inputs that have to wait, until the store has them. */
import { OtpError } from "@troupe/otp"
import type { InboxState } from "./inboxState.ts"
import { InboxWriter } from "./inboxWriter.ts"
import { storeFailure } from "../errors/index.ts"
import { describe } from "../toolResult/index.ts"
import type { Turn } from "./delivery.ts"

/** The turn waits; its input is to be stored, if it has one and there is a store. */
export const accepted = (context: InboxState, turn: Turn): Partial<InboxState> => {
  const mailbox = context.mailbox.add(turn)
  if (context.commit === undefined || turn.delivery?.status !== "sent" || turn.messages[0]?.role !== "user") {
    return { mailbox }
  }
  const keeper = context.keeper ?? new InboxWriter(context.commit)
  keeper.note(turn)
  return { mailbox, keeper }
}

/**
 * The store did not take them: those that still wait are rejected, but what a commit under way has in its inbox (KEEP3).
 * Where the store gave no answer it may have them, so they are pending.
 */
export const dropUnsaved = (context: InboxState, event: object): Partial<InboxState> => {
  const { keeper } = context
  if (keeper === undefined) return {}
  const cause = causeOf(event)
  const failed = keeper.settled()
  return without(context, isUnanswered(cause) ? failed : keeper.refused(failed), cause)
}

/** The commit is over, and has decided what it had in its inbox (KEEP3). */
export const keepDoubted = ({ keeper }: InboxState): void =>
  keeper?.decided().forEach(({ delivery }) => delivery?.pend())

/** The commit failed, and what it had in its inbox is not kept by another save either. */
export const dropDoubted = (context: InboxState, event: object): Partial<InboxState> => {
  const doubted = context.keeper?.decided() ?? []
  return doubted.length === 0 ? {} : without(context, doubted, causeOf(event))
}

const causeOf = (event: object): unknown => ("error" in event ? event.error : undefined)

/** Whether the store was asked and has not answered: it may have kept what it was given, or may yet. */
export const isUnanswered = (cause: unknown): boolean =>
  cause instanceof OtpError.CallExit && cause.reason === "timeout"

const without = ({ mailbox }: InboxState, turns: ReadonlyArray<Turn>, cause: unknown): Partial<InboxState> => {
  const failed = new Set(turns)
  if (isUnanswered(cause)) {
    for (const { delivery } of mailbox.among(failed)) delivery?.pend()
    return {}
  }
  for (const turn of mailbox.among(failed)) {
    turn.outlet.fail(storeFailure(`The input could not be stored: ${describe(cause)}; send it again`, cause))
  }
  return { mailbox: mailbox.without(failed) }
}
