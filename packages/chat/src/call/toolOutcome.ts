/**
 * The outcome of a finished tool call: its three events, its tool message, and whether it ends the loop.
 *
 * TOUT1. Total: exceptions of a policy, an encoder or a handler's values do not escape; each becomes a `ToolError`.
 * TOUT2. The policy function is called at most once for a call, and never with its own exceptions.
 * TOUT3. Every call gets exactly one tool message.
 * TOUT4. Every call has exactly one outcome, the same in its event and its message. When a policy replaces a failure by a
 *        value, the model reads the value, and the outcome stays a failure.
 * TOUT6. When `onToolError` or `onToolTimeout` throws, the tool message contains no text of the exception; the
 *        exception is the error's cause.
 */
import { type Finding, ToolError, type ToolErrorReason } from "../errors/index.ts"
import type { ToolEvent } from "../events/index.ts"
import * as HandlerResult from "../values/HandlerResult.ts"
import { ignoreRejection, isPromiseLike } from "../async/index.ts"
import { copied, deepestLevels, wellFormed } from "../json/index.ts"
import { write } from "../values/index.ts"
import { awaitingUser, describe } from "../values/index.ts"
import { ofError, type Outcome, type ToolCall, type ToolMessage, type Usage } from "../model/index.ts"
import {
  type Content,
  contentBy,
  type OutcomeRules,
  excessOf,
  failureContent,
  inEvent,
  referringIn,
  wrongText
} from "./resultContent.ts"
import type { ModeWish } from "../gate/index.ts"
import type { StepHalt } from "../record/index.ts"
import { handlerResultOf, type Returned } from "../tool/index.ts"

/** A call that is over. */
export interface ToolOutcome {
  readonly toolCall: ToolCall
  readonly outcome: Outcome
  readonly events: readonly [ToolEvent, ToolEvent, ToolEvent]
  readonly message: ToolMessage
  readonly halt: StepHalt | undefined
  /** The permission mode that the call requests from the next batch on. */
  readonly wish?: ModeWish | undefined
  /** The usage of its sub-agent, as far as the chat has not counted it before. */
  readonly childUsage?: Usage | undefined
}

/**
 * The outcome of a call with the result of its handler or of the library. `ended` overrides the outcome word that follows
 * from an error's reason.
 */
export const toolOutcome = (
  toolCall: ToolCall,
  result: Returned,
  rules: OutcomeRules,
  ended?: Outcome
): ToolOutcome => {
  switch (result.type) {
    case "task_began": {
      const began = toolOutcome(toolCall, handlerResultOf(toolCall, result), rules, ended)
      return { ...began, message: { ...began.message, metadata: { task: result.task } } }
    }
    case "memory_noted": {
      const noted = toolOutcome(toolCall, handlerResultOf(toolCall, result), rules, ended)
      return noted.outcome === "completed"
        ? { ...noted, message: { ...noted.message, metadata: { ...result.metadata } } }
        : noted
    }
    case "child_waits":
      return toolOutcome(toolCall, handlerResultOf(toolCall, result), rules, ended)
    case "ok":
      return encoded(toolCall, result.value, rules, (content) =>
        succeeded(toolCall, result, content, "completed", rules)
      )
    case "ask_user": {
      const { json, found } = write(result.options, false, deepestLevels)
      if (found.length > 0) return failed(toolCall, optionsError(toolCall, result.options, found), rules)
      const { question, options } = wellFormed(result)
      const excess = excessOf(`${question}${JSON.stringify(json)}`, rules, named(toolCall))
      if (excess !== undefined) return failed(toolCall, excess, rules)
      return outcome(
        toolCall,
        result,
        { type: "ask_user_requested", toolCallId: toolCall.id, toolName: toolCall.name, question, options },
        awaitingUser,
        { type: "question", toolCallId: toolCall.id, question, options },
        "completed"
      )
    }
    case "halt":
      if (HandlerResult.reservedHaltReasons.has(result.reason))
        return failed(toolCall, reservedError(toolCall, result), rules)
      return encoded(toolCall, result.result, rules, (content) =>
        halted(
          toolCall,
          result,
          content,
          { type: "halt", toolCallId: toolCall.id, reason: result.reason.toWellFormed(), result: result.result },
          "completed",
          rules
        )
      )
    case "error":
      if (isAwaitable(result.reason)) return failed(toolCall, awaitedError(toolCall, result), rules, ended)
      return failed(toolCall, result.reason, rules, ended)
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
      ...(cause !== undefined && { cause })
    })
  )

/** The texts for the model when a call ended early. */
const endings = {
  cancelled: "the call was cancelled",
  abandoned: "the call was cancelled, and did not end in time; it may still take effect",
  not_started: "not started: the batch was ended before it began"
} as const

/** The outcome of a call that the library ended: no tool failed, so the error policy is not called. */
export const endedEarly = (
  toolCall: ToolCall,
  ended: keyof typeof endings,
  { toolResultEncoder }: OutcomeRules,
  message: string = endings[ended]
): ToolOutcome => toolOutcome(toolCall, toolFailure(toolCall, "cancelled", message), { toolResultEncoder }, ended)

const failed = (
  toolCall: ToolCall,
  error: unknown,
  rules: OutcomeRules,
  ended: Outcome = ofError(error)
): ToolOutcome => {
  const isTimeout = ended === "timed_out" && rules.onToolTimeout !== undefined
  const policy = isTimeout ? rules.onToolTimeout : rules.onToolError
  const name = isTimeout ? "onToolTimeout" : "onToolError"
  if (policy === "halt") return haltedByError(toolCall, error, rules, ended)
  if (typeof policy !== "function") return reported(toolCall, error, rules, ended)
  let decision: unknown
  let replaced: { readonly value: unknown } | undefined
  try {
    decision = policy(copied(toolCall), error)
    ignoreRejection(decision)
    replaced = replacementIn(decision)
  } catch (thrown) {
    const fault = faultOf(toolCall, `${name} raised an error`, thrown, "on_tool_error_raised")
    return haltedByError(toolCall, fault, rules, ended, thrown)
  }
  if (decision === "halt") return haltedByError(toolCall, error, rules, ended)
  if (replaced !== undefined) {
    const replacement = HandlerResult.ok(replaced.value)
    const halting: OutcomeRules = { ...rules, onToolError: "halt", onToolTimeout: "halt" }
    const finish = (content: Content) => succeeded(toolCall, replacement, content, ended, rules)
    return encoded(toolCall, replaced.value, halting, finish, ended)
  }
  const message = `${name} returned ${describe(decision)}; return { continue: value } or "halt"`
  return haltedByError(toolCall, faultOf(toolCall, message, decision, "on_tool_error_invalid"), rules, ended)
}

/** The value of a decision that replaces the failure, read once. */
const replacementIn = (decision: unknown): { readonly value: unknown } | undefined =>
  typeof decision === "object" && decision !== null && "continue" in decision ? { value: decision.continue } : undefined

const faultOf = (
  toolCall: ToolCall,
  message: string,
  fault: unknown,
  kind: "on_tool_error_raised" | "on_tool_error_invalid"
): ToolError =>
  new ToolError("invalid_return", {
    message,
    cause: fault,
    toolName: toolCall.name,
    toolCallId: toolCall.id,
    metadata: { [kind]: true }
  })

const haltedByError = (
  toolCall: ToolCall,
  error: unknown,
  rules: OutcomeRules,
  ended: Outcome,
  policyFault?: unknown
): ToolOutcome =>
  halted(
    toolCall,
    HandlerResult.error(error),
    failureContent(error, rules),
    {
      type: "tool_error",
      toolCallId: toolCall.id,
      error,
      ...(policyFault !== undefined && { policyFault })
    },
    ended,
    rules
  )

const reported = (toolCall: ToolCall, error: unknown, rules: OutcomeRules, ended: Outcome): ToolOutcome =>
  succeeded(toolCall, HandlerResult.error(error), failureContent(error, rules), ended, rules)

const encoded = (
  toolCall: ToolCall,
  value: unknown,
  rules: OutcomeRules,
  finish: (content: Content) => ToolOutcome,
  ended?: Outcome
): ToolOutcome => {
  let made: ReturnType<typeof contentBy>
  try {
    made = contentBy(value, rules.toolResultEncoder)
  } catch (thrown) {
    const message = ended === undefined ? describe(thrown) : "the value in place of the failure has no text"
    return failed(toolCall, encodingError(toolCall, message, thrown), rules, ended)
  }
  if ("wrong" in made) return failed(toolCall, encodingError(toolCall, wrongText(made.wrong), made.wrong), rules, ended)
  const excess = excessOf(made.content, rules, named(toolCall))
  return excess === undefined ? finish(made.content) : failed(toolCall, excess, rules, ended)
}

/** The call as its error names it. */
const named = ({ id: toolCallId, name: toolName }: ToolCall): { toolCallId: string; toolName: string } => ({
  toolCallId,
  toolName
})

const encodingError = (toolCall: ToolCall, message: string, cause: unknown): ToolError =>
  new ToolError("encoding_failed", { message, cause, toolName: toolCall.name, toolCallId: toolCall.id })

const optionsError = (toolCall: ToolCall, options: unknown, found: ReadonlyArray<Finding>): ToolError =>
  encodingError(
    toolCall,
    `the question's options have no JSON form: ${found.map(({ field, reason }) => `${field.join(".")} ${reason}`).join(", ")}`,
    options
  )

/** Reading `then` may throw (TOUT1). */
const isAwaitable = (value: unknown): boolean => {
  try {
    return isPromiseLike(value)
  } catch {
    return false
  }
}

const awaitedError = (toolCall: ToolCall, result: HandlerResult.Failed): ToolError => {
  ignoreRejection(result.reason)
  return new ToolError("invalid_return", {
    message: "the reason of the error is a promise; await it in the handler",
    cause: result,
    toolName: toolCall.name,
    toolCallId: toolCall.id
  })
}

const reservedError = (toolCall: ToolCall, result: HandlerResult.Halt): ToolError =>
  new ToolError("invalid_return", {
    message: `"${result.reason}" is a reserved halt reason; choose a word of your own`,
    cause: result,
    toolName: toolCall.name,
    toolCallId: toolCall.id,
    metadata: { reserved_halt_reason: result.reason }
  })

const succeeded = (
  toolCall: ToolCall,
  result: HandlerResult.HandlerResult,
  content: Content,
  ended: Outcome,
  rules: OutcomeRules
): ToolOutcome =>
  outcome(
    toolCall,
    result,
    { type: "tool_result_encoded", id: toolCall.id, ...inEvent(content) },
    content,
    undefined,
    ended,
    rules.blobs
  )

const halted = (
  toolCall: ToolCall,
  result: HandlerResult.HandlerResult,
  content: Content,
  halt: Extract<StepHalt, { readonly type: "halt" | "tool_error" }>,
  ended: Outcome,
  rules: OutcomeRules
): ToolOutcome =>
  outcome(
    toolCall,
    result,
    {
      type: "tool_halt",
      toolCallId: toolCall.id,
      reason: halt.type === "halt" ? halt.reason : "tool_error",
      result: halt.type === "halt" ? halt.result : halt.error,
      ...inEvent(content)
    },
    content,
    halt,
    ended,
    rules.blobs
  )

/** Makes an outcome from its parts. With `blobs` it has references in place of images and files (BLOBREF2). */
export const outcome = (
  toolCall: ToolCall,
  result: HandlerResult.HandlerResult,
  last: ToolEvent,
  content: Content,
  halt: StepHalt | undefined,
  ended: Outcome,
  blobs?: OutcomeRules["blobs"]
): ToolOutcome => {
  if (blobs !== undefined && typeof content !== "string") {
    const said = blobs.kept(content)
    if (said !== content) {
      const end = halt && referringIn(halt, said)
      return outcome(toolCall, referringIn(result, said), referringIn(last, said), said, end, ended)
    }
  }
  const message = { role: "tool", toolCallId: toolCall.id, content, outcome: ended } as const
  return { ...eventsOf(toolCall, result, last, ended), message, halt }
}

const eventsOf = (
  toolCall: ToolCall,
  result: HandlerResult.HandlerResult,
  last: ToolEvent,
  ended: Outcome
): Pick<ToolOutcome, "toolCall" | "outcome" | "events"> => ({
  toolCall,
  outcome: ended,
  events: [
    { type: "tool_execution_started", id: toolCall.id, name: toolCall.name, arguments: toolCall.arguments },
    { type: "tool_execution_completed", id: toolCall.id, name: toolCall.name, result, outcome: ended },
    last
  ]
})
