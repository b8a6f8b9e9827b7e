/** What makes one tool call recognizable wherever it is run again. */

/** Where a call stands: its reply's place in the thread, and its own place in the reply. Ids alone may come again. */
export interface CallPlace {
  readonly messageIndex?: number | undefined
  readonly index?: number | undefined
}

/** Whose call it is: of a session, else of a request. */
export interface CallOwner {
  readonly sessionId?: string | undefined
  readonly requestId: string
}

/**
 * The idempotency key of a call: the same however often and in whichever process it is run, another for every other call
 * of the session. It is printable ASCII.
 */
export const idempotencyKey = (
  owner: CallOwner,
  toolCallId: string,
  { messageIndex = 0, index = 0 }: CallPlace
): string => `${escaped(owner.sessionId ?? owner.requestId)}/${escaped(toolCallId)}/${messageIndex}.${index}`

const escaped = (part: string): string => encodeURIComponent(part.toWellFormed())
