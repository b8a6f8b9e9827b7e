/** What is said between a tool's call and the place where it runs. */
import type { ToolCall } from "@troupe/chat/ToolCall"

/** One run of a function of a module. */
export interface Job {
  readonly type: "job"
  /** The URL that is imported, and the name of what it exports. */
  readonly module: string
  readonly export: string
  readonly args: Readonly<Record<string, unknown>>
  readonly context: Readonly<Record<string, unknown>>
  readonly sessionId: string | undefined
  readonly requestId: string | undefined
  readonly toolCall: ToolCall
  readonly idempotencyKey: string
}

/** What the place is told. */
export type ToPlace = Job | { readonly type: "abort" }

/** A result that can be sent: one of the outcomes, without what makes it one here. */
export type SentResult =
  | { readonly type: "ok"; readonly value: unknown }
  | { readonly type: "error"; readonly reason: unknown }
  | { readonly type: "ask_user"; readonly question: string; readonly options: Record<string, unknown> }
  | { readonly type: "halt"; readonly reason: string; readonly result: unknown }

/**
 * What the place says.
 *
 * - `progress`: how far the function is
 * - `settled`: it returned; the last message
 * - `raised`: it threw, or there is no such function; the last message
 * - `crashed`: something threw where nobody could catch it; the last message
 * - `unsendable`: what it returned cannot leave the place; the last message
 */
export type FromPlace =
  | { readonly type: "progress"; readonly value: unknown }
  | { readonly type: "settled"; readonly result: SentResult }
  | { readonly type: "raised"; readonly message: string; readonly stack: string | undefined }
  | { readonly type: "crashed"; readonly message: string }
  | { readonly type: "unsendable"; readonly message: string }
