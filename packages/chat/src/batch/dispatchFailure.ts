/** The failures that the dispatcher returns in place of results. */
import { shortened, ToolError, type ToolErrorReason } from "../errors/index.ts"
import { ofError, type Outcome, type ToolCall } from "../model/index.ts"
import type { Denial } from "../gate/index.ts"
import { errorText } from "../values/index.ts"
import { tooManyCalls } from "./batchCalls.ts"
import type { Failure } from "./dispatchState.ts"

interface Details {
  readonly cause?: unknown
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** The outcome of the call; default: the outcome that follows from the error's reason. */
  readonly outcome?: Outcome | undefined
  /** The text for the model; default: the error's text. */
  readonly content?: string | undefined
}

/** The failure of a call without a result, with a new `ToolError`. */
export const failureOf = (
  toolCall: ToolCall,
  reason: ToolErrorReason,
  message: string,
  { cause, metadata, outcome, content }: Details = {}
): Failure => {
  const { id, name } = toolCall
  const error = new ToolError(reason, {
    message: `${name}: ${message}`,
    toolName: name,
    toolCallId: id,
    metadata,
    ...(cause !== undefined && { cause })
  })
  return failedWith(toolCall, error, outcome ?? ofError(error), content)
}

/** The failure of a call with this error. */
export const failedWith = (
  toolCall: ToolCall,
  error: ToolError,
  outcome = ofError(error),
  content = errorText(error)
): Failure => {
  const failure: Failure = {
    type: "failure",
    toolCall,
    outcome,
    error,
    message: { role: "tool", toolCallId: toolCall.id, content, outcome }
  }
  own.add(failure)
  return failure
}

/** The failures made here. A value of a runner that only looks like a failure is not one. */
const own = new WeakSet<object>()

/** Whether a result is the dispatcher's own, and not the runner's. */
export const isFailure = (value: unknown): value is Failure =>
  typeof value === "object" && value !== null && own.has(value)

/** The failure of a call that the gate refused; the model reads the reason unchanged. */
export const deniedCall = (toolCall: ToolCall, reason: string, denial: Denial | undefined): Failure =>
  failureOf(toolCall, "denied", reason, {
    content: shortened(reason),
    metadata: denial === undefined ? {} : { denial }
  })

/** The failure of a call at which the gate ended the batch. */
export const haltedCall = (toolCall: ToolCall, reason: string): Failure => {
  const content = `not run, because the batch was ended: ${reason}`
  return failureOf(toolCall, "denied", content, { content: shortened(content) })
}

/** The failure of a call that never started. */
export const notStarted = (toolCall: ToolCall): Failure =>
  failureOf(toolCall, "cancelled", "not started: the batch was ended before it began", { outcome: "not_started" })

/** The failure of a call beyond the bound of a reply (BATCH11). */
export const beyondBound = (toolCall: ToolCall, most: number): Failure =>
  failureOf(toolCall, "too_many_calls", tooManyCalls(most))

/** The failure of a suspended call. */
export const suspendedCall = (toolCall: ToolCall): Failure =>
  failureOf(toolCall, "cancelled", "not started: it waits for an answer", {
    outcome: "not_started",
    metadata: { suspended: true }
  })
