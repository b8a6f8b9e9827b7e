/**
 * How tool calls end.
 *
 * @module
 */
import * as z from "zod"
import { ToolError } from "../errors/index.ts"

/**
 * How a tool call ended: one word for each call, the same in its event, its message, its result and the snapshot.
 *
 * - `completed`: the handler returned `ok`, a question, or a halt
 * - `failed`: the handler failed: it returned `error`, threw, exited, or returned a value that is none of the four outcomes
 * - `timed_out`: a deadline passed
 * - `cancelled`: it was cancelled and ended in time, or was still queued
 * - `denied`: a permission or a hook refused it; the handler never ran
 * - `invalid`: the arguments do not fit the tool's schema, or are not JSON; the handler never ran
 * - `not_found`: there is no such tool, or it has no handler
 * - `not_started`: a halt, or the end of the batch, came first; the handler never ran
 * - `abandoned`: it was cancelled, but still ran at the drain deadline; its result is discarded
 * - `unknown`: the program ended while it ran, so whether it took effect is unknown
 *
 * @example
 * ```ts import.meta.vitest
 * import { tool } from "@troupe/chat"
 * import { runToolCalls } from "@troupe/chat/tools"
 *
 * const now = tool({ name: "now", execute: () => "noon" })
 * const { messages } = await runToolCalls([{ id: "1", name: "now", arguments: {} }], [now])
 * messages.map(({ outcome }) => outcome) // => ["completed"]
 * ```
 */
export const Outcome = z.enum([
  "completed",
  "failed",
  "timed_out",
  "cancelled",
  "denied",
  "invalid",
  "not_found",
  "not_started",
  "abandoned",
  "unknown"
])
export type Outcome = z.infer<typeof Outcome>

/** The outcome of a call that failed with this error. Never throws, whatever the error is. */
export const ofError = (error: unknown): Outcome => {
  if (!isToolError(error)) return "failed"
  switch (error.reason) {
    case "timeout":
      return "timed_out"
    case "cancelled":
      return "cancelled"
    case "denied":
      return "denied"
    case "invalid_arguments":
      return "invalid"
    case "not_found":
      return "not_found"
    case "outcome_unknown":
      return "unknown"
    case "too_many_calls":
      return "not_started"
    default:
      return "failed"
  }
}

/** Some values throw when they are inspected. */
const isToolError = (error: unknown): error is ToolError => {
  try {
    return error instanceof ToolError
  } catch {
    return false
  }
}

/**
 * Whether the handler can have run. A `denied` handler ran only if it ended with the refusal of its own
 * `setPermissionMode`.
 */
export const mayHaveRun = (outcome: Outcome): boolean =>
  outcome !== "denied" && outcome !== "invalid" && outcome !== "not_found" && outcome !== "not_started"
