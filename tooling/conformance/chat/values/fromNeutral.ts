/**
 * Converts a case's values to ours: constructors, messages, threads, events, results, options.
 *
 * There are no checks here: an ill-formed value of a case stays ill-formed, so that our own checks find it.
 */
import type * as Validate from "../../../../packages/chat/src/model/Validate.ts"
import { error, ok } from "@troupe/chat"
import type { ChatResult, StepResult } from "@troupe/chat/chats"
import { AdapterError, EngineError, SessionError, StreamError, ToolError, ValidationError } from "@troupe/chat/errors"
import type { Event } from "@troupe/chat/events"
import type { ContentPart, Message, Thread, ToolCall, Usage } from "@troupe/chat/messages"
import type { Request, Response } from "@troupe/chat/models"
import type { Session } from "@troupe/chat/sessions"
import { type Fields, fieldsOf, isFields, listOf, textOf } from "../../runner/fields.ts"
import { camel, present, renamed } from "./naming.ts"
import { ScriptedException } from "../scripted.ts"

/** Builds the values of constructors (`$error`, `$exception`, …), recursively. */
export const construct = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(construct)
  if (!isFields(value)) return value
  const [[key, operand] = [undefined, undefined]] = Object.entries(value)
  switch (key) {
    case "$error":
      return libraryError(fieldsOf(operand))
    case "$exception":
      return exceptionOf(fieldsOf(operand))
    case "$unencodable":
      return { unencodable: 1n }
    case "$result": {
      const result = fieldsOf(operand)
      return "error" in result ? error(construct(result["error"])) : ok(construct(result["ok"]))
    }
    case "$usage":
      return { type: "usage", usage: usageOf(operand) }
    case "$part":
      return partOf(value)
    case "$atom":
    case "$not_event":
    case "$tuple":
      return construct(operand)
    default:
      return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, construct(field)]))
  }
}

const exceptionOf = ({ type, message }: Fields): ScriptedException =>
  new ScriptedException(textOf(type ?? "RuntimeError"), textOf(message ?? ""))

/** A library error; throws for an unknown reason, as its constructor does. */
export const libraryError = ({ type, reason, errors, ...fields }: Fields): Error => {
  const rest = renamed(present(fieldsOf(construct(fields))), camel)
  const because = reason as never
  switch (type) {
    case "EngineError":
      return new EngineError(because, rest)
    case "AdapterError":
      return new AdapterError(because, rest)
    case "StreamError":
      return new StreamError(because, rest)
    case "ToolError":
      return new ToolError(because, rest)
    case "SessionError":
      return new SessionError(because, textOf(rest["message"] ?? reason), rest)
    case "ValidationError":
      return new ValidationError(because, findings(errors ?? []), rest)
    default:
      throw new TypeError(`There is no error type ${textOf(type)}`)
  }
}

/** Findings, from pairs of a field or a path and a reason. */
export const findings = (errors: unknown): ReadonlyArray<{ field: ReadonlyArray<string>; reason: string }> =>
  Array.isArray(errors)
    ? errors.map((finding) => {
        const [field, reason] = listOf(finding)
        return { field: Array.isArray(field) ? field : [textOf(field)], reason: textOf(reason) }
      })
    : (errors as never)

/** Usage under our names. */
export const usageOf = (value: unknown): Usage.Usage => renamed(present(fieldsOf(value)), camel)

/** A content part. */
export const partOf = (part: unknown): ContentPart => {
  const { $part: type, url, detail, text } = fieldsOf(part)
  if (type === "text") return { type: "text", text: textOf(text) }
  if (type === "image") return { type: "image", image: { url: textOf(url) }, ...present({ detail }) }
  return part as never
}

const contentOf = (content: unknown): unknown =>
  Array.isArray(content) ? content.map((part) => (isFields(part) && "$part" in part ? partOf(part) : part)) : content

/** A tool call. */
export const toolCallOf = (value: unknown): ToolCall.ToolCall => {
  const { id, name, arguments: args, raw_arguments: raw, metadata } = fieldsOf(value)
  return {
    id,
    name,
    arguments: construct(args ?? {}),
    ...present({ rawArguments: raw, metadata })
  } as ToolCall.ToolCall
}

/** A message; an assistant's `metadata.tool_calls` are its `toolCalls`. */
export const messageOf = (value: unknown): Message.Message => {
  if (!isFields(value)) return value as never
  const { role, content, name, tool_call_id: toolCallId, metadata } = value
  const { tool_calls: toolCalls, ...rest } = fieldsOf(construct(metadata))
  return {
    role,
    content: contentOf(content),
    ...present({ name, toolCallId }),
    ...(toolCalls === undefined ? {} : { toolCalls: listOf(toolCalls).map(toolCallOf) }),
    ...(Object.keys(rest).length === 0 ? {} : { metadata: rest })
  } as never
}

/** A thread, from a thread or from its messages. */
export const threadOf = (value: unknown): Thread.Thread => {
  if (Array.isArray(value)) return { messages: value.map(messageOf) }
  const { messages, metadata } = fieldsOf(value)
  return { messages: listOf(messages).map(messageOf), ...present({ metadata }) }
}

/** A request; the word `text` means that format. */
export const requestOf = (value: unknown): Request => {
  const { messages, tools, response_format: format, ...rest } = fieldsOf(construct(value))
  return {
    ...renamed(present(rest), camel),
    ...present({ responseFormat: format === "text" ? { type: "text" } : format }),
    messages: listOf(fieldsOf(value)["messages"] ?? messages).map(messageOf),
    tools: listOf(tools)
  } as never
}

/** A session; parts that a case omits are empty. */
export const sessionOf = (value: unknown): Validate.SessionParts & { readonly context: Fields } => {
  const { status, thread, pending_question: question, pending_tool_call_id: toolCallId, ...rest } = fieldsOf(value)
  const { pending_tool_calls: calls, context, metadata, id } = rest
  return {
    ...present({ id }),
    status: textOf(status ?? "idle"),
    thread: threadOf(thread),
    ...(typeof question === "string" ? { pendingQuestion: { question, toolCallId, options: {} } } : {}),
    pendingToolCalls: listOf(calls).map(toolCallOf),
    context: fieldsOf(construct(context)),
    metadata: fieldsOf(construct(metadata))
  }
}

/** A response; parts that a case omits are empty. */
export const responseOf = (value: unknown): Response => {
  const {
    message,
    output_text: outputText,
    tool_calls: calls,
    finish_reason: finishReason,
    usage,
    ...rest
  } = fieldsOf(value)
  return {
    outputText: outputText ?? "",
    toolCalls: listOf(calls).map(toolCallOf),
    finishReason: finishReason ?? null,
    usage: usageOf(usage),
    metadata: {},
    ...present({ message: message === undefined ? undefined : messageOf(message) }),
    ...renamed(present(fieldsOf(construct(rest))), camel)
  } as unknown as Response
}

/** A step result; parts that a case omits are empty, and its control fields are in its metadata. */
export const stepResultOf = (value: unknown): StepResult => {
  const { thread, response, tool_results: results, done, metadata } = fieldsOf(value)
  const { mode, manual_tool_calls: manual } = fieldsOf(metadata)
  const halt = haltOf(fieldsOf(construct(metadata)))
  return {
    thread: threadOf(thread),
    response: responseOf(response),
    toolResults: listOf(results).map((result) => messageOf(result) as Extract<Message.Message, { role: "tool" }>),
    done: done === true,
    mode: mode === "manual" ? "manual" : "auto",
    manualToolCalls: listOf(manual).map(toolCallOf),
    truncatedToolCalls: [],
    ...(halt === undefined ? {} : { halt })
  }
}

const haltOf = (metadata: Fields): NonNullable<StepResult["halt"]> | undefined => {
  const { halted_reason: reason, halt_tool_call_id: haltId, pending_tool_call_id: askingId } = metadata
  switch (reason) {
    case undefined:
    case null:
      return undefined
    case "ask_user":
      return {
        type: "question",
        toolCallId: textOf(askingId ?? ""),
        question: textOf(metadata["pending_question"] ?? ""),
        options: fieldsOf(metadata["ask_user_opts"])
      }
    case "tool_error":
      return { type: "tool_error", toolCallId: textOf(haltId ?? ""), error: metadata["on_tool_error_exception"] }
    default:
      return {
        type: "halt",
        toolCallId: textOf(haltId ?? ""),
        reason: textOf(reason),
        result: metadata["halt_result"] ?? null
      }
  }
}

/** A chat result; parts that a case omits are empty. */
export const chatResultOf = (value: unknown): ChatResult => {
  const { thread, final_response: final, steps, halted_reason: reason, metadata, ...pending } = fieldsOf(value)
  const { manual_tool_calls: manual, ask_user_opts: options, ...rest } = fieldsOf(construct(metadata))
  const finalResponse = final === undefined || final === null ? undefined : responseOf(final)
  const manualToolCalls = listOf(manual).map(toolCallOf)
  const question = pending["pending_question"] ?? rest["pending_question"]
  return {
    thread: threadOf(thread),
    finalResponse,
    steps: listOf(steps).map(stepResultOf),
    haltedReason: textOf(reason),
    pendingToolCalls:
      reason === "manual_tool_calls" && manualToolCalls.length === 0
        ? (finalResponse?.toolCalls ?? [])
        : manualToolCalls,
    ...(question === undefined || question === null
      ? {}
      : {
          pendingQuestion: {
            question: textOf(question),
            toolCallId: textOf(pending["pending_tool_call_id"] ?? rest["pending_tool_call_id"] ?? ""),
            options: fieldsOf(options)
          }
        }),
    metadata: { ...renamed(rest, camel), ...(manual === undefined ? {} : { manualToolCalls }) }
  }
}

/** The fields of a session. Its error, which a case has in its metadata, is that of its last outcome. */
export const sessionFieldsOf = (value: unknown): NonNullable<Parameters<typeof Session.make>[0]> => {
  const {
    thread,
    pending_question: question,
    pending_tool_call_id: askingId,
    pending_tool_calls: calls,
    metadata,
    ...rest
  } = fieldsOf(value)
  const { error: failure, ...notes } = fieldsOf(construct(metadata))
  return {
    ...renamed(present(fieldsOf(construct(rest))), camel),
    ...(thread === undefined ? {} : { thread: threadOf(thread) }),
    ...(calls === undefined ? {} : { pendingToolCalls: listOf(calls).map(toolCallOf) }),
    ...(question === undefined || question === null
      ? {}
      : { pendingQuestion: { question: textOf(question), toolCallId: textOf(askingId ?? ""), options: {} } }),
    metadata: notes,
    ...(failure === undefined || failure === null
      ? {}
      : { lastOutcome: { haltedReason: "error", metadata: {}, error: failure } })
  }
}

/**
 * An event. A payload that is no object has no form of ours, except for the two tags that carry any value: it is returned
 * unchanged, and is no event.
 */
export const eventOf = (value: unknown): Event => {
  if (!Array.isArray(value)) return construct(value) as never
  const [type, payload] = value as ReadonlyArray<unknown>
  if (type === "raw_chunk") return { type, chunk: construct(payload) }
  if (type === "error") return { type, error: construct(payload) }
  if (!isFields(payload)) return payload as never
  return { type, ...payloadOf(payload) } as never
}

const payloadOf = (payload: Fields): Fields => {
  const {
    message,
    thread,
    response,
    result,
    arguments: args,
    manual_tool_calls: manual,
    opts,
    metadata,
    ...rest
  } = payload
  const { usage, ...notes } = fieldsOf(metadata)
  return {
    ...renamed(fieldsOf(construct(rest)), camel),
    ...(message === undefined ? {} : { message: messageOf(message) }),
    ...(thread === undefined ? {} : { thread: threadOf(thread) }),
    ...(response === undefined ? {} : { response: responseOf(response) }),
    ...(result === undefined
      ? {}
      : { result: isFields(result) && "halted_reason" in result ? chatResultOf(result) : construct(result) }),
    ...(args === undefined ? {} : { arguments: construct(args) }),
    ...(manual === undefined ? {} : { manualToolCalls: listOf(manual).map(toolCallOf) }),
    ...(opts === undefined ? {} : { options: construct(opts) }),
    ...(usage === undefined ? {} : { usage: usageOf(usage) }),
    ...(metadata === undefined ? {} : { metadata: construct(notes) })
  }
}
