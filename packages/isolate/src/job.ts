/** The messages between a tool's call and the place where it runs. */
import type { ToolCall } from "@troupe/chat/messages"

/** One run of a function of a module. */
export interface Job {
  readonly type: "job"
  /** The place signs its messages with these bytes (`signature.ts`). */
  readonly nonce: Uint8Array
  /** The largest message that the place may send, in bytes. */
  readonly maxBytes: number
  /** The environment variables that the function sees. */
  readonly env: Readonly<Record<string, string>>
  /** The URL that is imported, and the name of its export. */
  readonly module: string
  readonly export: string
  readonly args: Readonly<Record<string, unknown>>
  readonly context: Readonly<Record<string, unknown>>
  readonly sessionId: string | undefined
  readonly requestId: string | undefined
  readonly toolCall: ToolCall.ToolCall
  readonly idempotencyKey: string
}

/** A message to the place. */
export type ToPlace = Job | { readonly type: "abort" }

/** A result that can be sent: one of the outcomes, without its brand. The call checks the fields. */
export type SentResult =
  | { readonly type: "ok"; readonly value: unknown }
  | { readonly type: "error"; readonly reason: unknown }
  | { readonly type: "ask_user"; readonly question: unknown; readonly options: unknown }
  | { readonly type: "halt"; readonly reason: unknown; readonly result: unknown }

/**
 * A message from the place.
 *
 * - `progress`: the function reports its progress
 * - `settled`: it returned; the last message
 * - `raised`: it threw, or there is no such function; the last message
 * - `crashed`: an exception was thrown where nothing catches it; the last message
 * - `unsendable`: its result cannot be copied; the last message
 * - `oversized`: its result has more bytes than `maxBytes`; the last message
 */
export type FromPlace =
  | { readonly type: "progress"; readonly value: unknown }
  | { readonly type: "settled"; readonly result: SentResult }
  | { readonly type: "raised"; readonly message: string; readonly stack: string | undefined }
  | { readonly type: "crashed"; readonly message: string }
  | { readonly type: "unsendable"; readonly message: string }
  | { readonly type: "oversized"; readonly bytes: number }
