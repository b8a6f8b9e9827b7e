/**
 * The idempotency key of a tool call.
 *
 * KEY1. Two different calls never have the same key, also after a rewind, a retry or a fork, and also where the provider
 *       gives every call the same id.
 * KEY2. Every run of one call has the same key, also after a restart.
 * KEY3. A call of an open step that was stored without an id keeps the key that is made from the step's index in the
 *       thread.
 */

import { System } from "@troupe/otp"
import { describe } from "../values/index.ts"

/** Identifies a call in a reply. Call ids and indexes in the thread can repeat, so neither identifies a call. */
export interface CallPlace {
  /** The random id of the step that sent the request of the reply, or of the batch. */
  readonly stepId?: string | undefined
  /** The reply's index in the thread; used only without a `stepId` (KEY3). */
  readonly messageIndex?: number | undefined
  /** The call's index in the reply. */
  readonly index?: number | undefined
  /** The arguments that replace those in the reply. */
  readonly edited?: Readonly<Record<string, unknown>> | undefined
  /** The key of the call, if it is known: a background task has that of its call (KEY2). */
  readonly key?: string | undefined
}

/** A new step's id: random; in a system with a seed, the next of that seed's stream. */
export const newStepId = (system: System.System): string => System.uuid(system, "steps")

/**
 * The idempotency key of a call (KEY1, KEY2), in printable ASCII. Replaced arguments have a key of their own, because
 * services refuse a repeated key with other content.
 */
export const idempotencyKey = (
  owner: { readonly sessionId?: string | undefined; readonly requestId: string },
  toolCallId: string,
  { messageIndex = 0, stepId, index = 0, edited, key: known }: CallPlace
): string => {
  if (known !== undefined) return known
  // After a restore a request has another id. A step keeps its id, which is unique.
  const from = owner.sessionId ?? (stepId === undefined ? owner.requestId : "")
  const key = `${escaped(from)}/${escaped(toolCallId)}/${escaped(stepId ?? String(messageIndex))}.${index}`
  return edited === undefined ? key : `${key}/${digest(describe(edited))}`
}

/** Two 32-bit words; two contents of one call have the same only by chance. */
export const digest = (text: string): string => hashed(text, 0x811c9dc5) + hashed(text, 0x9e3779b9)

const hashed = (text: string, seed: number): string => {
  let hash = seed
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return ((hash ^ (hash >>> 13)) >>> 0).toString(16).padStart(8, "0")
}

const escaped = (part: string): string => encodeURIComponent(part.toWellFormed())
