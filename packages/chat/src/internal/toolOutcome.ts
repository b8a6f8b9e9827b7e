/**
 * What becomes of a finished tool call: its three events, its tool message, and whether it ends the loop.
 *
 * TOUT1. Total: no fault of a policy, an encoder or a handler's values escapes; each is a `ToolError`.
 * TOUT2. The policy function is asked at most once for a call, and never about its own faults.
 * TOUT3. Every call gets exactly one tool message, whatever happened.
 */
import type { OnToolError } from "../ChatOptions.ts"
import { type Finding, ToolError, type ToolErrorReason } from "../ChatError.ts"
import type { ToolEvent } from "../Event.ts"
import * as HandlerResult from "../HandlerResult.ts"
import { isPromiseLike } from "./awaitable.ts"
import { write } from "./jsonForm.ts"
import type { ToolMessage } from "../Message.ts"
import type { StepHalt } from "../StepResult.ts"
import type { ToolCall } from "../ToolCall.ts"
import { describe, errorText, type ToolResultEncoder } from "../ToolResultEncoder.ts"

/** A call that is over. */
export interface ToolOutcome {
  readonly toolCall: ToolCall
  readonly events: readonly [ToolEvent, ToolEvent, ToolEvent]
  readonly message: ToolMessage
  readonly halt: StepHalt | undefined
}

/** How outcomes are judged and written. */
export interface OutcomeRules {
  readonly onToolError?: OnToolError | undefined
  readonly toolResultEncoder: ToolResultEncoder
}

/** What the asking call's tool message says until the user has answered. */
export const awaitingUser = "<awaiting user response>"

/** The outcome of a call whose handler returned, or for which the library answers, with `result`. */
export const toolOutcome = (
  toolCall: ToolCall,
  result: HandlerResult.HandlerResult,
  rules: OutcomeRules
): ToolOutcome => {
  switch (result.type) {
    case "ok":
      return encoded(toolCall, result.value, rules, (content) => succeeded(toolCall, result, content))
    case "ask_user": {
      const { question, options } = result
      const { found } = write(options, false)
      if (found.length > 0) return failed(toolCall, optionsError(toolCall, options, found), rules)
      return outcome(
        toolCall,
        result,
        { type: "ask_user_requested", toolCallId: toolCall.id, toolName: toolCall.name, question, options },
        awaitingUser,
        { type: "question", toolCallId: toolCall.id, question, options }
      )
    }
    case "halt":
      if (HandlerResult.reservedHaltReasons.has(result.reason))
        return failed(toolCall, reservedError(toolCall, result), rules)
      return encoded(toolCall, result.result, rules, (content) =>
        halted(toolCall, result, content, {
          type: "halt",
          toolCallId: toolCall.id,
          reason: result.reason,
          result: result.result
        })
      )
    case "error":
      return failed(toolCall, result.reason, rules)
  }
}

/** An error of this call, as a handler result. */
export const toolFailure = (
  toolCall: ToolCall,
  reason: ToolErrorReason,
  message: string,
  cause?: unknown
): HandlerResult.Failed =>
  HandlerResult.error(
    new ToolError(reason, {
      message,
      toolName: toolCall.name,
      toolCallId: toolCall.id,
      ...(cause === undefined ? {} : { cause })
    })
  )

/** The outcome of a call that was cancelled: no tool failed, so the error policy is not asked. */
export const cancelledOutcome = (toolCall: ToolCall, { toolResultEncoder }: OutcomeRules): ToolOutcome =>
  toolOutcome(toolCall, toolFailure(toolCall, "cancelled", "the call was cancelled"), { toolResultEncoder })

const failed = (toolCall: ToolCall, error: unknown, rules: OutcomeRules): ToolOutcome => {
  const { onToolError: policy } = rules
  if (policy === "halt") return haltedByError(toolCall, error, rules)
  if (typeof policy !== "function") return reported(toolCall, error, rules)
  let decision: unknown
  let replaced: { readonly value: unknown } | undefined
  try {
    decision = policy(toolCall, error)
    ignoreRejection(decision)
    replaced = replacementIn(decision)
  } catch (thrown) {
    return haltedByFault(toolCall, `onToolError raised: ${describe(thrown)}`, thrown, rules, "on_tool_error_raised")
  }
  if (decision === "halt") return haltedByError(toolCall, error, rules)
  if (replaced !== undefined) {
    const replacement = HandlerResult.ok(replaced.value)
    const halting: OutcomeRules = { ...rules, onToolError: "halt" }
    return encoded(toolCall, replaced.value, halting, (content) => succeeded(toolCall, replacement, content))
  }
  return haltedByFault(
    toolCall,
    `onToolError returned ${describe(decision)}; return { continue: value } or "halt"`,
    decision,
    rules,
    "on_tool_error_invalid"
  )
}

/** What a decision puts in the place of the failure, read once. */
const replacementIn = (decision: unknown): { readonly value: unknown } | undefined =>
  typeof decision === "object" && decision !== null && "continue" in decision ? { value: decision.continue } : undefined

const haltedByFault = (
  toolCall: ToolCall,
  message: string,
  fault: unknown,
  rules: OutcomeRules,
  kind: "on_tool_error_raised" | "on_tool_error_invalid"
): ToolOutcome => {
  const error = new ToolError("invalid_return", {
    message,
    cause: fault,
    toolName: toolCall.name,
    toolCallId: toolCall.id,
    metadata: { [kind]: true }
  })
  return haltedByError(toolCall, error, rules, kind === "on_tool_error_raised" ? fault : undefined)
}

const haltedByError = (toolCall: ToolCall, error: unknown, rules: OutcomeRules, policyFault?: unknown): ToolOutcome =>
  halted(toolCall, HandlerResult.error(error), textOf(error, rules), {
    type: "tool_error",
    toolCallId: toolCall.id,
    error,
    ...(policyFault === undefined ? {} : { policyFault })
  })

const reported = (toolCall: ToolCall, error: unknown, rules: OutcomeRules): ToolOutcome =>
  succeeded(toolCall, HandlerResult.error(error), textOf(error, rules))

/** The encoder's own words for a failure, or ours when it has none. */
const textOf = (error: unknown, rules: OutcomeRules): string => {
  try {
    if (error instanceof ToolError && error.reason === "encoding_failed") return errorText(error)
    const content: unknown = rules.toolResultEncoder.encode(HandlerResult.error(error))
    return typeof content === "string" ? content : errorText(error)
  } catch {
    return errorText(error)
  }
}

const encoded = (
  toolCall: ToolCall,
  value: unknown,
  rules: OutcomeRules,
  finish: (content: string) => ToolOutcome
): ToolOutcome => {
  let content: unknown
  try {
    content = rules.toolResultEncoder.encode(value)
    ignoreRejection(content)
  } catch (thrown) {
    return failed(toolCall, encodingError(toolCall, describe(thrown), thrown), rules)
  }
  return typeof content === "string"
    ? finish(content)
    : failed(toolCall, encodingError(toolCall, "the encoder returned something else than a string", content), rules)
}

/** A policy or an encoder that answers with a promise has answered wrongly; its rejection is nobody's. */
const ignoreRejection = (value: unknown): void => {
  if (isPromiseLike(value)) Promise.resolve(value).catch(() => undefined)
}

const encodingError = (toolCall: ToolCall, message: string, cause: unknown): ToolError =>
  new ToolError("encoding_failed", { message, cause, toolName: toolCall.name, toolCallId: toolCall.id })

const optionsError = (toolCall: ToolCall, options: unknown, found: ReadonlyArray<Finding>): ToolError =>
  encodingError(
    toolCall,
    `the question's options have no JSON form: ${found.map(({ field, reason }) => `${field.join(".")} ${reason}`).join(", ")}`,
    options
  )

const reservedError = (toolCall: ToolCall, result: HandlerResult.Halt): ToolError =>
  new ToolError("invalid_return", {
    message: `"${result.reason}" is a reserved halt reason; choose a word of your own`,
    cause: result,
    toolName: toolCall.name,
    toolCallId: toolCall.id,
    metadata: { reserved_halt_reason: result.reason }
  })

const succeeded = (toolCall: ToolCall, result: HandlerResult.HandlerResult, content: string): ToolOutcome =>
  outcome(toolCall, result, { type: "tool_result_encoded", id: toolCall.id, content }, content, undefined)

const halted = (
  toolCall: ToolCall,
  result: HandlerResult.HandlerResult,
  content: string,
  halt: Extract<StepHalt, { readonly type: "halt" | "tool_error" }>
): ToolOutcome =>
  outcome(
    toolCall,
    result,
    {
      type: "tool_halt",
      toolCallId: toolCall.id,
      reason: halt.type === "halt" ? halt.reason : "tool_error",
      result: halt.type === "halt" ? halt.result : halt.error,
      content
    },
    content,
    halt
  )

const outcome = (
  toolCall: ToolCall,
  result: HandlerResult.HandlerResult,
  last: ToolEvent,
  content: string,
  halt: StepHalt | undefined
): ToolOutcome => ({
  toolCall,
  events: [
    { type: "tool_execution_started", id: toolCall.id, name: toolCall.name, arguments: toolCall.arguments },
    { type: "tool_execution_completed", id: toolCall.id, name: toolCall.name, result },
    last
  ],
  message: { role: "tool", toolCallId: toolCall.id, content },
  halt
})
