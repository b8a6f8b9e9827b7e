/** What makes one tool call recognizable wherever it is run again. */

import { describe } from "../ToolResultEncoder.ts"

/** Where a call stands: its reply's place in the thread, and its own place in the reply. Ids alone may come again. */
export interface CallPlace {
  readonly messageIndex?: number | undefined
  readonly index?: number | undefined
  /** The arguments it has instead of those that stand there. */
  readonly edited?: Readonly<Record<string, unknown>> | undefined
}

/** Whose call it is: of a session, else of a request. */
export interface CallOwner {
  readonly sessionId?: string | undefined
  readonly requestId: string
}

/**
 * The idempotency key of a call: the same however often and in whichever process it is run, another for every other call
 * of the session. A call that a person gave other arguments has another key: a service refuses a key with other content. It is
 * printable ASCII.
 */
export const idempotencyKey = (
  owner: CallOwner,
  toolCallId: string,
  { messageIndex = 0, index = 0, edited }: CallPlace
): string => {
  const key = `${escaped(owner.sessionId ?? owner.requestId)}/${escaped(toolCallId)}/${messageIndex}.${index}`
  return edited === undefined ? key : `${key}/${digest(describe(edited))}`
}

/** Two words of 32 bits, which no two contents of one call share but by chance. */
const digest = (text: string): string => hashed(text, 0x811c9dc5) + hashed(text, 0x9e3779b9)

const hashed = (text: string, seed: number): string => {
  let hash = seed
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return ((hash ^ (hash >>> 13)) >>> 0).toString(16).padStart(8, "0")
}

const escaped = (part: string): string => encodeURIComponent(part.toWellFormed())
