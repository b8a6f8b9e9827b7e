/** What the dispatcher puts in the place of a result. */
import { shortened, ToolError, type ToolErrorReason } from "../errors/index.ts"
import { ofError, type Outcome, type ToolCall } from "../model/index.ts"
import type { Denial } from "../gate/index.ts"
import { errorText } from "../toolResult/index.ts"
import type { Failure } from "./dispatchState.ts"

interface Details {
  readonly cause?: unknown
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** How the call ended, where the error's reason does not say it. */
  readonly outcome?: Outcome | undefined
  /** What the model reads, in the place of the error's text. */
  readonly content?: string | undefined
}

/** A call that ran, and came to no result. */
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
    ...(cause === undefined ? {} : { cause })
  })
  return failedWith(toolCall, error, outcome ?? ofError(error), content)
}

/** A call that failed with this error. */
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

/** A runner's own value may look like a failure; it is none. */
const own = new WeakSet<object>()

/** Whether a value was made here. */
export const isOwn = (value: unknown): value is Failure => typeof value === "object" && value !== null && own.has(value)

/** A call that the gate refused; the model reads the reason as it is. */
export const deniedCall = (toolCall: ToolCall, reason: string, denial: Denial | undefined): Failure =>
  failureOf(toolCall, "denied", reason, {
    content: shortened(reason),
    metadata: denial === undefined ? {} : { denial }
  })

/** A call at which the gate ended the batch. */
export const haltedCall = (toolCall: ToolCall, reason: string): Failure => {
  const content = `not run, because the batch was ended: ${reason}`
  return failureOf(toolCall, "denied", content, { content: shortened(content) })
}

/** A call that was never its turn. */
export const notStarted = (toolCall: ToolCall): Failure =>
  failureOf(toolCall, "cancelled", "not started: the batch was ended before it began", { outcome: "not_started" })

/** A call that nobody decided about yet. */
export const suspendedCall = (toolCall: ToolCall): Failure =>
  failureOf(toolCall, "cancelled", "not started: it waits for an answer", {
    outcome: "not_started",
    metadata: { suspended: true }
  })
