/** Builds a step's result from what its phases left. */
import type { AssistantMessage, ToolMessage } from "../Message.ts"
import type { Response } from "../Response.ts"
import type { StepHalt, StepResult } from "../StepResult.ts"
import * as Thread from "../Thread.ts"
import type { ToolCall } from "../ToolCall.ts"
import type { ToolOutcome } from "./toolOutcome.ts"

/** What is known when a step's last phase begins. */
export interface StepParts {
  readonly thread: Thread.Thread
  readonly response: Response
  readonly mode: "auto" | "manual"
  readonly outcomes: ReadonlyArray<ToolOutcome>
  readonly manualToolCalls: ReadonlyArray<ToolCall>
  readonly halt: StepHalt | undefined
  readonly error: unknown
}

/**
 * The result of a step.
 *
 * Calls of a reply that ended otherwise than with `tool_calls` are no part of the thread: nobody will answer them.
 */
export const stepResult = (parts: StepParts): StepResult => {
  const { response, mode, outcomes, manualToolCalls, halt, error } = parts
  const called = response.finishReason === "tool_calls"
  const toolResults: ReadonlyArray<ToolMessage> = outcomes.map((outcome) => outcome.message)
  const message = assistantMessage(response, called ? response.toolCalls : [], halt?.type === "cancelled")
  return {
    thread: Thread.append(parts.thread, ...(message === undefined ? [] : [message]), ...toolResults),
    response,
    toolResults,
    done: halt !== undefined || error !== undefined || !called,
    mode: mode === "manual" && called ? "manual" : "auto",
    halt,
    manualToolCalls,
    truncatedToolCalls: called ? [] : response.toolCalls,
    ...(error === undefined ? {} : { error })
  }
}

/** The assistant's message, with what the provider wants to see again; a reply that was cancelled before its first word leaves none. */
const assistantMessage = (
  response: Response,
  toolCalls: ReadonlyArray<ToolCall>,
  cancelled: boolean
): AssistantMessage | undefined => {
  if (cancelled && response.outputText === "" && toolCalls.length === 0) return undefined
  const reasoning = response.metadata["reasoning"]
  return {
    role: "assistant",
    content: response.outputText,
    ...(toolCalls.length === 0 ? {} : { toolCalls: [...toolCalls] }),
    metadata: {
      ...response.message?.metadata,
      finish_reason: response.finishReason,
      ...(cancelled && response.finishReason === null ? { cancelled: true } : {}),
      ...(reasoning === undefined ? {} : { reasoning })
    }
  }
}
