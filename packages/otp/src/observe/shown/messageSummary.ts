/** Shows a message as it stands in a mailbox: calls, casts and signals as what they are. */
import { format } from "../../core/ExitReason.ts"
import { isDown, isExit } from "../../core/SystemMessage.ts"
import { Chore } from "../../kernel/mailboxTask.ts"
import { CastMessage } from "../../core/castMessage.ts"
import { CallMessage, Continuation } from "../../server/serverLoop.ts"
import { isStop } from "../../core/stopMessage.ts"
import { summary } from "../../core/valueSummary.ts"

/** What a message carries: the request of a call, the message of a cast, nothing of a chore, else the message itself. */
export const contentOf = (message: unknown): unknown => {
  if (message instanceof Chore) return undefined
  if (message instanceof CallMessage) return message.request
  return message instanceof CastMessage ? message.message : message
}

/** Shows a message in one line. */
export const messageSummary = (message: unknown): string => {
  if (message instanceof CallMessage) {
    const { caller } = message.from
    return `call ${summary(message.request)}${caller === undefined ? "" : ` from ${caller.label} ${caller}`}`
  }
  if (message instanceof CastMessage) return `cast ${summary(message.message)}`
  if (message instanceof Continuation) return `continue ${summary(message.term)}`
  if (message instanceof Chore) return "the result of something it started"
  if (isStop(message)) return `the request to stop, ${format(message.reason)}`
  if (isExit(message)) return `the exit of ${message.from.label} ${message.from}, ${format(message.reason)}`
  if (isDown(message)) return `the end of ${message.pid}, ${format(message.reason)}`
  return summary(message)
}
