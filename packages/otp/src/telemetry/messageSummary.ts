/** Formats a message of a mailbox: calls, casts and signals by their kind. */
import { CastMessage, format, isDown, isExit, isStop, type Name, type Pid, summary } from "../core/index.ts"
import { MailboxTask } from "../kernel/index.ts"
import { CallMessage, Continuation, isSensitive } from "../process/index.ts"

/** The content of a message: the request of a call, the message of a cast, none of a `MailboxTask`, else the message. */
export const contentOf = (message: unknown): unknown => {
  if (message instanceof MailboxTask) return undefined
  if (message instanceof CallMessage) return message.request
  return message instanceof CastMessage ? message.message : message
}

/** Formats a message in one line. */
export const messageSummary = (message: unknown): string => {
  if (message instanceof CallMessage) {
    const { caller } = message.from
    return `call ${summary(message.request)}${caller === undefined ? "" : ` from ${caller.label} ${caller}`}`
  }
  if (message instanceof CastMessage) return `cast ${summary(message.message)}`
  if (message instanceof Continuation) return `continue ${summary(message.term)}`
  if (message instanceof MailboxTask) return "the result of something it started"
  if (isStop(message)) return `the request to stop, ${format(message.reason)}`
  if (isExit(message)) return `the exit of ${message.from.label} ${message.from}, ${format(message.reason)}`
  if (isDown(message)) return `the end of ${message.pid}, ${format(message.reason)}`
  return summary(message)
}

/** The content of a message that a report may show; `undefined` for a sensitive process. */
export const shownContent = (target: Pid | Name, message: unknown): unknown =>
  isSensitive(target) ? undefined : contentOf(message)
