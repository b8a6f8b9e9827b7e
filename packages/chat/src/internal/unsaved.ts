/** Inputs that have to wait, until the store has them. */
import { SessionError } from "../ChatError.ts"
import type { ChatContext, Turn } from "../ChatMachine.ts"
import { describe } from "../ToolResultEncoder.ts"
import { InboxKeeper } from "./inboxKeeper.ts"

/** The turn waits; its input is to be stored, if it has one and there is a store. */
export const accepted = (context: ChatContext, turn: Turn): Partial<ChatContext> => {
  const mailbox = context.mailbox.add(turn)
  if (context.commit === undefined || turn.delivery?.status !== "sent" || turn.messages[0]?.role !== "user") {
    return { mailbox }
  }
  const keeper = context.keeper ?? new InboxKeeper(context.commit)
  keeper.note(turn)
  return { mailbox, keeper }
}

/** The store did not take them: those that still wait are rejected. */
export const dropUnsaved = ({ keeper, mailbox }: ChatContext, event: object): Partial<ChatContext> => {
  const cause: unknown = "error" in event ? event.error : undefined
  const failed = new Set(keeper?.settled())
  const left = mailbox.without(failed)
  for (const turn of mailbox.among(failed)) {
    turn.outlet.fail(
      new SessionError("store_failed", `The input could not be stored: ${describe(cause)}; send it again`, { cause })
    )
  }
  return { mailbox: left }
}
