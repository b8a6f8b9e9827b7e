/** Converts our values to a case's: the inverse of `fromNeutral.ts`. */
import type { ChatResult, StepResult } from "@troupe/chat/chats"
import { AdapterError, EngineError, SessionError, StreamError, ToolError, ValidationError } from "@troupe/chat/errors"
import type { Event } from "@troupe/chat/events"
import { type Message, type Thread, type ToolCall, Usage } from "@troupe/chat/messages"
import type { Request, Response } from "@troupe/chat/models"
import { type HandlerResult, isHandlerResult } from "@troupe/chat/results"
import type { Session } from "@troupe/chat/sessions"
import { type Fields, fieldsOf, textOf } from "../../runner/fields.ts"
import { isPlain, present, renamed, snake } from "./naming.ts"

const libraryErrors = [AdapterError, EngineError, SessionError, StreamError, ToolError, ValidationError]

/** Converts any value: errors, outcomes and usage chunks in the form of their constructors. */
export const neutral = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(neutral)
  if (typeof value === "bigint") return { $unencodable: true }
  if (value instanceof Error) return errorForm(value)
  if (isHandlerResult(value)) return { $result: outcomeForm(value) }
  if (!isPlain(value)) return value ?? null
  if (value["type"] === "usage" && "usage" in value) return { $usage: usageForm(value["usage"]) }
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, field]) => field !== undefined)
      .map(([key, field]) => [key, neutral(field)])
  )
}

/** An error: one of the library's, or any other as an exception. */
export const errorForm = (thrown: unknown): Fields => {
  if (!(thrown instanceof Error)) return { $exception: { type: "throw", message: textOf(thrown) } }
  if (!libraryErrors.some((type) => thrown instanceof type)) {
    return { $exception: { type: thrown.name === "Error" ? "RuntimeError" : thrown.name, message: thrown.message } }
  }
  const { reason, metadata, provider, status, retryAfterMs, requestId, toolName, toolCallId } =
    thrown as unknown as Fields
  const errors =
    thrown instanceof ValidationError
      ? thrown.errors.map(({ field, reason: why }) => [pathForm(field), why])
      : undefined
  return {
    $error: {
      type: thrown.name,
      reason,
      message: thrown.message,
      cause: causeForm(reason, thrown.cause),
      metadata: metadataForm(fieldsOf(metadata)),
      ...renamed({ provider, status, retryAfterMs, requestId, toolName, toolCallId, errors }, snake)
    }
  }
}

/** A thrown value that is no error is marked as thrown. */
const causeForm = (reason: unknown, cause: unknown): unknown =>
  reason === "handler_raised" && cause !== undefined && !(cause instanceof Error)
    ? { throw: neutral(cause) }
    : neutral(cause)

const metadataForm = (metadata: Fields): Fields => {
  const { reserved_halt_reason: reserved, ...rest } = renamed(fieldsOf(neutral(metadata)), snake)
  return { ...rest, ...(reserved === undefined ? {} : { reserved_halt_atom: reserved }) }
}

const pathForm = (field: ReadonlyArray<string | number>): unknown => (field.length === 1 ? field[0] : [...field])

/** A tool's outcome as an object of one key. */
export const outcomeForm = (result: HandlerResult): Fields => {
  switch (result.type) {
    case "ok":
      return { ok: neutral(result.value) }
    case "error":
      return { error: neutral(result.reason) }
    case "halt":
      return { halt: [result.reason, neutral(result.result)] }
    case "ask_user":
      return {
        ask_user:
          Object.keys(result.options).length === 0 ? [result.question] : [result.question, neutral(result.options)]
      }
  }
}

export const usageForm = (usage: unknown): Fields => ({ tool_usage: {}, extra: {}, ...renamed(fieldsOf(usage), snake) })

/** A tool call. */
export const toolCallForm = (call: ToolCall.ToolCall): Fields =>
  renamed({ ...call, arguments: neutral(call.arguments) }, snake)

/** A message; `toolCalls` are `metadata.tool_calls`. */
export const messageForm = (message: Message.Message): Fields => {
  const { role, content, name, metadata } = message
  const calls = message.role === "assistant" ? message.toolCalls : undefined
  return {
    role,
    content: typeof content === "string" ? content : content.map(partForm),
    ...present({ name, tool_call_id: message.role === "tool" ? message.toolCallId : undefined }),
    metadata: {
      ...fieldsOf(neutral(metadata)),
      ...(calls === undefined ? {} : { tool_calls: calls.map(toolCallForm) })
    }
  }
}

/** A content part. */
export const partForm = (part: unknown): unknown => {
  const { type, text, image, detail } = fieldsOf(part)
  if (type === "text") return { $part: "text", text }
  if (type === "image") return { $part: "image", ...present({ url: fieldsOf(image)["url"], detail }) }
  return part
}

/** A thread. */
export const threadForm = (thread: Thread.Thread): Fields => ({
  messages: thread.messages.map(messageForm),
  metadata: thread.metadata ?? {}
})

/** A request to an adapter. */
export const requestForm = (request: Request): Fields => {
  const { messages, tools, metadata, ...rest } = request
  return { ...renamed(rest, snake), messages: messages.map(messageForm), tools, metadata: metadata ?? {} }
}

/** A response. */
export const responseForm = (response: Response): Fields => {
  const { message, toolCalls, usage, metadata, ...rest } = response
  return {
    ...renamed(rest, snake),
    ...(message === undefined ? {} : { message: messageForm(message) }),
    tool_calls: toolCalls.map(toolCallForm),
    usage: usageForm(usage ?? Usage.empty),
    metadata: neutral(metadata)
  }
}

/** A halt as the metadata of the step it ended. */
export const haltForm = (halt: NonNullable<StepResult["halt"]>): Fields => {
  switch (halt.type) {
    case "question":
      return {
        halted_reason: "ask_user",
        pending_question: halt.question,
        pending_tool_call_id: halt.toolCallId,
        ask_user_opts: neutral(halt.options)
      }
    case "tool_error":
      return {
        halted_reason: "tool_error",
        halt_tool_call_id: halt.toolCallId,
        ...(halt.policyFault === undefined ? {} : { on_tool_error_exception: neutral(halt.policyFault) })
      }
    case "halt":
      return { halted_reason: halt.reason, halt_tool_call_id: halt.toolCallId, halt_result: neutral(halt.result) }
    case "cancelled":
      return { halted_reason: "cancelled" }
  }
}

/** A step result; its control fields are metadata. */
export const stepResultForm = (step: StepResult): Fields => ({
  thread: threadForm(step.thread),
  response: responseForm(step.response),
  tool_results: step.toolResults.map(messageForm),
  done: step.done,
  metadata: {
    ...(step.halt === undefined ? {} : haltForm(step.halt)),
    ...(step.mode === "manual" ? { mode: "manual" } : {}),
    ...(step.manualToolCalls.length === 0 ? {} : { manual_tool_calls: step.manualToolCalls.map(toolCallForm) }),
    ...(step.truncatedToolCalls.length === 0
      ? {}
      : { truncated_tool_calls: step.truncatedToolCalls.map(toolCallForm) }),
    ...(step.error === undefined ? {} : { error: neutral(step.error) })
  }
})

const passesForm = ({ pass1Halted, pass2Error }: Fields): Fields => ({
  pass_1_halted: pass1Halted,
  ...(pass2Error === undefined ? {} : { pass_2_error: neutral(pass2Error) })
})

/** A chat result; the calls that it waits for are in its metadata too. */
export const chatResultForm = (result: ChatResult): Fields => {
  const { pendingQuestion: pending, metadata } = result
  const { manualToolCalls, truncatedToolCalls, structuredFinalize, ...rest } = metadata
  const calls = (value: unknown) => (value as ReadonlyArray<ToolCall.ToolCall>).map(toolCallForm)
  return {
    thread: threadForm(result.thread),
    ...(result.finalResponse === undefined ? {} : { final_response: responseForm(result.finalResponse) }),
    steps: result.steps.map(stepResultForm),
    halted_reason: result.haltedReason,
    metadata: {
      ...renamed(fieldsOf(neutral(rest)), snake),
      ...(structuredFinalize === undefined ? {} : { structured_finalize: passesForm(fieldsOf(structuredFinalize)) }),
      ...(manualToolCalls === undefined ? {} : { manual_tool_calls: calls(manualToolCalls) }),
      ...(truncatedToolCalls === undefined ? {} : { truncated_tool_calls: calls(truncatedToolCalls) }),
      ...(pending === undefined
        ? {}
        : {
            pending_question: pending.question,
            pending_tool_call_id: pending.toolCallId,
            ask_user_opts: neutral(pending.options)
          })
    },
    ...(pending === undefined ? {} : { pending_question: pending.question, pending_tool_call_id: pending.toolCallId })
  }
}

/** A session; the end of its last turn is in its metadata. */
export const sessionForm = (session: Session.Session): Fields => {
  const { id, thread, status, pendingQuestion: pending, pendingToolCalls, context, metadata, lastOutcome } = session
  return {
    ...present({
      id: id === "" ? undefined : id,
      pending_question: pending?.question,
      pending_tool_call_id: pending?.toolCallId
    }),
    thread: threadForm(thread),
    status,
    pending_tool_calls: pendingToolCalls.map(toolCallForm),
    context: neutral(context),
    metadata: {
      ...fieldsOf(neutral(metadata)),
      ...renamed(fieldsOf(neutral(lastOutcome?.metadata ?? {})), snake),
      ...(lastOutcome?.error === undefined ? {} : { error: neutral(lastOutcome.error) })
    }
  }
}

/** An event as the pair of its tag and its payload. */
export const eventForm = (event: Event): readonly [string, unknown] => {
  const { type, ...payload } = event
  switch (event.type) {
    case "raw_chunk":
      return [type, neutral(event.chunk)]
    case "error":
      return [type, neutral(event.error)]
    case "message_started":
      return [type, { ...payload, message: messageForm(event.message) }]
    case "message_completed": {
      const { metadata, usage, message, finishReason } = event
      const notes = { ...metadata, ...(usage === undefined ? {} : { usage: usageForm(usage) }) }
      return [
        type,
        {
          message: messageForm(message),
          finish_reason: finishReason,
          ...(Object.keys(notes).length === 0 ? {} : { metadata: notes })
        }
      ]
    }
    case "tool_execution_completed":
      return [type, { id: event.id, name: event.name, result: outcomeForm(event.result) }]
    case "ask_user_requested": {
      const { toolCallId, toolName, question, options } = event
      return [type, { tool_call_id: toolCallId, tool_name: toolName, question, opts: neutral(options) }]
    }
    case "step_completed":
      return [
        type,
        {
          response: responseForm(event.response),
          thread: threadForm(event.thread),
          mode: event.mode,
          manual_tool_calls: event.manualToolCalls.map(toolCallForm)
        }
      ]
    case "chat_completed":
      return [type, { result: chatResultForm(event.result) }]
    default:
      return [type, renamed(fieldsOf(neutral(payload)), snake)]
  }
}
