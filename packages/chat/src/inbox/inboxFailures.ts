/** The storage of waiting inputs, and its failures. */
import { OtpError } from "@troupe/otp"
import type { InboxState } from "./inboxState.ts"
import { InboxWriter } from "./inboxWriter.ts"
import { storeFailure } from "../errors/index.ts"
import { describe } from "../toolResult/index.ts"
import type { Turn } from "./delivery.ts"

/** Queues the turn, and marks its input to be stored, if it has an input and there is a store. */
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
 * Handles a failed save: inputs that still wait are rejected, except inputs in the inbox of a running commit (KEEP3).
 * When the store did not answer, it may have the inputs, so they become pending.
 */
export const dropUnsaved = (context: InboxState, event: object): Partial<InboxState> => {
  const { keeper } = context
  if (keeper === undefined) return {}
  const cause = causeOf(event)
  const failed = keeper.settled()
  return without(context, isUnanswered(cause) ? failed : keeper.refused(failed), cause)
}

/** Handles a successful commit: the doubted inputs in its inbox become pending (KEEP3). */
export const keepDoubted = ({ keeper }: InboxState): void =>
  keeper?.decided().forEach(({ delivery }) => delivery?.pend())

/**
 * Handles a failed commit: the doubted inputs in its inbox fail, or become pending if the store did not answer (KEEP3).
 */
export const dropDoubted = (context: InboxState, event: object): Partial<InboxState> => {
  const doubted = context.keeper?.decided() ?? []
  return doubted.length === 0 ? {} : without(context, doubted, causeOf(event))
}

const causeOf = (event: object): unknown => ("error" in event ? event.error : undefined)

/** Whether the call to the store timed out: the store may have stored the record, or may still store it. */
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
