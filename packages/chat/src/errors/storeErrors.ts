/** The errors with which a store with a log refuses an operation. */
import { SessionError, ValidationError } from "./ChatError.ts"
import { isRecord } from "./valueChecks.ts"

const advice = {
  store_conflict: (id) => `The chat ${id} was written by another program meanwhile; its next turn goes on from that`,
  store_fenced: (key, epoch) =>
    `The epoch ${epoch} of ${key} is over, since a newer one was claimed; stop writing under it`,
  unknown_chat: (id) => `The store has no chat ${id}; list says which it has`,
  unknown_commit: (id, seq) => `The chat ${id} has no entry ${seq}; its history has those there are`,
  not_a_step: (id, seq) =>
    seq === undefined
      ? `No entry of the chat ${id} is without an open step yet; wait for its first answer`
      : `A step of the chat ${id} was open at the entry ${seq}; choose one whose isStep is true`,
  chat_exists: (id) => `There is a chat ${id} already; choose another id, or delete it first`,
  store_closed: (id) => `The store is closed, and the chat ${id} out of its reach; open another`,
  store_without_waiting: () =>
    "The store does not list what conversations wait for; start the Troupe with a store that has `waiting`, as those of @troupe/store have",
  store_without_memories: () =>
    "The store keeps no memories; start the Troupe with a store that has `memories`, as those of @troupe/store have",
  store_without_log: (id) => `The store keeps no log of the chat ${id}; start the Troupe with a SessionStore`
} as const satisfies Readonly<Record<string, (id: string, seq: number | undefined) => string>>

/** Why a store with a log refuses an operation. */
export type Refusal = keyof typeof advice

/** Whether the error of a store is a conflict: another program wrote. */
export const isConflict = (cause: unknown): cause is SessionError =>
  cause instanceof SessionError && cause.reason === "store_conflict"

/** Whether the error of a store refuses a write because another program is the home of the conversation. */
export const isFenced = (cause: unknown): boolean => cause instanceof SessionError && cause.reason === "store_fenced"

/** Whether the error of a store is its answer to the operation: the value is invalid, or the operation may not be done. */
export const isStoreRefusal = (cause: unknown): boolean =>
  cause instanceof ValidationError ||
  (cause instanceof SessionError && cause.reason !== "store_closed" && cause.reason !== "store_failed")

/** The error of a chat whose store failed: a conflict or a move itself, else `store_failed` with the cause. */
export const storeFailure = (message: string, cause: unknown): SessionError =>
  isConflict(cause) || (cause instanceof SessionError && cause.reason === "moved")
    ? cause
    : new SessionError("store_failed", message, { cause })

/**
 * What to do about this cause: `; try again`. A typed error has its own advice in its message, and a bug of the store does
 * not pass.
 */
export const againAfter = (cause: unknown): string => {
  const isTyped = isRecord(cause) && typeof cause["reason"] === "string"
  const isBug = [TypeError, RangeError, ReferenceError, SyntaxError].some((kind) => cause instanceof kind)
  return isTyped || isBug ? "" : "; try again"
}

const metadataOf = (reason: Refusal, id: string, seq: number | undefined): Readonly<Record<string, unknown>> =>
  reason === "store_fenced" ? { key: id, epoch: seq } : seq === undefined ? { id } : { id, seq }

/** The `SessionError` of a store that refuses for this reason; its message gives the next step. A fence has a key and an epoch. */
export const refused = (reason: Refusal, id: string, seq?: number): SessionError => {
  const say: (id: string, seq: number | undefined) => string = advice[reason]
  return new SessionError(reason, say(id, seq), { metadata: metadataOf(reason, id, seq) })
}
