/**
 * The types of cases: how a value of a case becomes ours (`from`), and ours becomes that of a case (`to`).
 *
 * A field has the same type in each type that has it, so one table of fields serves all of them.
 */
import type { ChatResult, StepResult } from "@troupe/chat/chats"
import type { Event } from "@troupe/chat/events"
import { type Message, type Thread, type ToolCall, Usage } from "@troupe/chat/messages"
import type { Request, Response } from "@troupe/chat/models"
import type { Session } from "@troupe/chat/sessions"
import { type Fields, fieldsOf, isFields, listOf, present, textOf } from "../../runner/fields.ts"
import {
  camel,
  construct,
  neutral,
  outcomeForm,
  partForm,
  partOf,
  renamed,
  snake,
  usageForm,
  usageOf
} from "./plain.ts"

interface Form<A> {
  readonly from: (value: unknown) => A
  readonly to: (value: A) => Fields
}

const many = <A>({ from, to }: Form<A>) => ({
  from: (values: unknown): ReadonlyArray<A> => listOf(values).map(from),
  to: (values: ReadonlyArray<A>): ReadonlyArray<Fields> => values.map(to)
})

const isMissing = (value: unknown): value is null | undefined => value === undefined || value === null

/** The fields of a case under our names, each converted as the table of fields says. */
const readFields = (given: Fields): Record<string, unknown> => {
  const read = ([name, value]: [string, unknown]): [string, unknown] => {
    const { from = construct } = fields[name] ?? {}
    return [name, isMissing(value) ? value : from(value)]
  }
  return renamed(Object.fromEntries(Object.entries(given).map(read)), camel)
}

/** Our fields under the cases' names. */
const writeFields = (given: Fields): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(renamed(given, snake)).map(([name, value]) => {
      const { to = neutral } = fields[name] ?? {}
      return [name, to(value as never)]
    })
  )

const toolCall: Form<ToolCall.ToolCall> = {
  from: (value) => ({ arguments: {}, ...readFields(present(fieldsOf(value))) }) as never,
  to: (call) => writeFields({ ...call })
}

/** A message; an assistant's `metadata.tool_calls` are its `toolCalls`. */
const message: Form<Message.Message> = {
  from: (value) => {
    if (!isFields(value)) return value as never
    const { role, content, metadata, name, tool_call_id: toolCallId } = value
    const { tool_calls: calls, ...notes } = fieldsOf(construct(metadata))
    const parts = Array.isArray(content)
      ? content.map((part) => (isFields(part) && "$part" in part ? partOf(part) : part))
      : content
    return {
      role,
      content: parts,
      ...present({ name, toolCallId, toolCalls: calls === undefined ? undefined : many(toolCall).from(calls) }),
      ...(Object.keys(notes).length === 0 ? {} : { metadata: notes })
    } as never
  },
  to: (said) => {
    const { role, content, name, metadata, toolCallId, toolCalls } = { toolCallId: null, toolCalls: undefined, ...said }
    return {
      role,
      content: typeof content === "string" ? content : content.map(partForm),
      ...present({ name, tool_call_id: role === "tool" ? toolCallId : undefined }),
      metadata: {
        ...fieldsOf(neutral(metadata)),
        ...present({ tool_calls: role === "assistant" ? toolCalls?.map(toolCall.to) : undefined })
      }
    }
  }
}

/** A thread, from a thread or from its messages. */
const thread: Form<Thread.Thread> = {
  from: (value) => {
    const { messages, metadata } = Array.isArray(value) ? { messages: value } : fieldsOf(value)
    return { messages: many(message).from(messages), ...present({ metadata }) } as never
  },
  to: ({ messages, metadata = {} }) => ({ messages: messages.map(message.to), metadata })
}

/** A request to an adapter; the word `text` means that format. */
const request: Form<Request> = {
  from: (value) => {
    const { messages, tools, response_format: format, ...rest } = fieldsOf(value)
    return {
      ...readFields(present(rest)),
      ...present({ responseFormat: format === "text" ? { type: "text" } : construct(format) }),
      messages: many(message).from(messages),
      tools: listOf(construct(tools))
    } as never
  },
  to: ({ tools, metadata = {}, ...rest }) => ({ ...writeFields(rest), tools, metadata })
}

/** A response; parts that a case omits are empty. */
const response: Form<Response> = {
  from: (value) => ({
    outputText: "",
    toolCalls: [],
    finishReason: null,
    usage: {},
    metadata: {},
    ...readFields(present(fieldsOf(value)))
  }),
  to: (made) => ({ usage: usageForm(Usage.empty), ...writeFields({ ...made }) })
}

type Halt = NonNullable<StepResult["halt"]>

const haltOf = (metadata: Fields): Halt | undefined => {
  const { halted_reason: reason, halt_tool_call_id: haltId, pending_tool_call_id: askingId } = metadata
  const toolCallId = textOf(haltId ?? "")
  if (isMissing(reason)) return undefined
  if (reason === "tool_error") return { type: "tool_error", toolCallId, error: metadata["on_tool_error_exception"] }
  if (reason !== "ask_user") {
    return { type: "halt", toolCallId, reason: textOf(reason), result: metadata["halt_result"] ?? null }
  }
  const { pending_question: question, ask_user_opts: options } = metadata
  return {
    type: "question",
    toolCallId: textOf(askingId ?? ""),
    question: textOf(question ?? ""),
    options: fieldsOf(options)
  }
}

/** A halt as the metadata of the step it ended. */
const haltForm = (halt: Halt): Fields => {
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

const callsForm = (name: string, calls: ReadonlyArray<ToolCall.ToolCall>): Fields =>
  calls.length === 0 ? {} : { [name]: calls.map(toolCall.to) }

/** A step result; parts that a case omits are empty, and its control fields are in its metadata. */
const stepResult: Form<StepResult> = {
  from: (value) => {
    const { thread: messages, response: made, tool_results: results, done, metadata } = fieldsOf(value)
    const { mode, manual_tool_calls: manual } = fieldsOf(metadata)
    return {
      thread: thread.from(messages),
      response: response.from(made),
      toolResults: many(message).from(results) as StepResult["toolResults"],
      done: done === true,
      mode: mode === "manual" ? "manual" : "auto",
      manualToolCalls: many(toolCall).from(manual),
      truncatedToolCalls: [],
      ...present({ halt: haltOf(fieldsOf(construct(metadata))) })
    }
  },
  to: ({ halt, mode, manualToolCalls, truncatedToolCalls, error, ...step }) => ({
    thread: thread.to(step.thread),
    response: response.to(step.response),
    tool_results: step.toolResults.map(message.to),
    done: step.done,
    metadata: {
      ...(halt === undefined ? {} : haltForm(halt)),
      ...(mode === "manual" ? { mode } : {}),
      ...callsForm("manual_tool_calls", manualToolCalls),
      ...callsForm("truncated_tool_calls", truncatedToolCalls),
      ...(error === undefined ? {} : { error: neutral(error) })
    }
  })
}

const pendingOf = (question: unknown, id: unknown, options: unknown = {}): ChatResult["pendingQuestion"] =>
  isMissing(question)
    ? undefined
    : { question: textOf(question), toolCallId: textOf(id ?? ""), options: fieldsOf(options) }

/** A chat result; parts that a case omits are empty, and the calls that it waits for are in its metadata too. */
const chatResult: Form<ChatResult> = {
  from: (value) => {
    const {
      thread: messages,
      final_response: last,
      steps,
      halted_reason: reason,
      metadata,
      ...pending
    } = fieldsOf(value)
    const { manual_tool_calls: manual, ask_user_opts: options, ...rest } = fieldsOf(construct(metadata))
    const finalResponse = isMissing(last) ? undefined : response.from(last)
    const calls = many(toolCall).from(manual)
    const isManual = reason === "manual_tool_calls" && calls.length === 0
    const asked = { ...rest, ...present(pending) }
    const pendingQuestion = pendingOf(asked["pending_question"], asked["pending_tool_call_id"], options)
    return {
      thread: thread.from(messages),
      finalResponse,
      steps: many(stepResult).from(steps),
      haltedReason: textOf(reason),
      pendingToolCalls: isManual ? (finalResponse?.toolCalls ?? []) : calls,
      ...present({ pendingQuestion }),
      metadata: { ...renamed(rest, camel), ...(manual === undefined ? {} : { manualToolCalls: calls }) }
    }
  },
  to: ({ pendingQuestion: pending, metadata, ...result }) => {
    const { structuredFinalize: passes, ...rest } = metadata
    const { pass1Halted, pass2Error } = fieldsOf(passes)
    const asked =
      pending === undefined ? {} : { pending_question: pending.question, pending_tool_call_id: pending.toolCallId }
    const finalize = {
      pass_1_halted: pass1Halted,
      ...(pass2Error === undefined ? {} : { pass_2_error: neutral(pass2Error) })
    }
    return {
      thread: thread.to(result.thread),
      ...(result.finalResponse === undefined ? {} : { final_response: response.to(result.finalResponse) }),
      steps: result.steps.map(stepResult.to),
      halted_reason: result.haltedReason,
      metadata: {
        ...writeFields(rest),
        ...(passes === undefined ? {} : { structured_finalize: finalize }),
        ...(pending === undefined ? {} : { ...asked, ask_user_opts: neutral(pending.options) })
      },
      ...asked
    }
  }
}

/** A session. Its error, which a case has in its metadata, is that of its last outcome. */
const session = {
  from: (value: unknown): NonNullable<Parameters<typeof Session.make>[0]> => {
    const { pending_question: question, pending_tool_call_id: id, metadata, ...rest } = fieldsOf(value)
    const { error, ...notes } = fieldsOf(construct(metadata))
    const lastOutcome = isMissing(error) ? undefined : { haltedReason: "error", metadata: {}, error }
    const pendingQuestion = pendingOf(question, id)
    return { ...readFields(present(rest)), ...present({ pendingQuestion, lastOutcome }), metadata: notes }
  },
  to: ({ id, pendingQuestion: pending, metadata, lastOutcome, ...rest }: Session.Session): Fields => {
    const { thread: messages, status, pendingToolCalls, context } = rest
    return {
      ...present({
        id: id === "" ? undefined : id,
        pending_question: pending?.question,
        pending_tool_call_id: pending?.toolCallId
      }),
      ...writeFields({ thread: messages, status, pendingToolCalls, context }),
      metadata: {
        ...fieldsOf(neutral(metadata)),
        ...renamed(fieldsOf(neutral(lastOutcome?.metadata ?? {})), snake),
        ...(lastOutcome?.error === undefined ? {} : { error: neutral(lastOutcome.error) })
      }
    }
  }
}

/** The types of the fields that are no plain values. */
const fields: Readonly<
  Record<string, { readonly from: (value: unknown) => unknown; readonly to: (value: never) => unknown }>
> = {
  thread,
  message,
  messages: many(message),
  response,
  usage: { from: usageOf, to: usageForm },
  tool_calls: many(toolCall),
  manual_tool_calls: many(toolCall),
  pending_tool_calls: many(toolCall),
  truncated_tool_calls: many(toolCall)
}

/** An event of a case is the pair of its tag and its payload. */
const event = {
  // A payload that is no object has no form of ours, except for the two tags that carry any value.
  from: (value: unknown): Event => {
    if (!Array.isArray(value)) return construct(value) as never
    const [type, payload] = value as ReadonlyArray<unknown>
    if (type === "raw_chunk") return { type, chunk: construct(payload) }
    if (type === "error") return { type, error: construct(payload) }
    if (!isFields(payload)) return payload as never
    const { result, opts, metadata, ...rest } = payload
    const { usage, ...notes } = fieldsOf(metadata)
    const ended = isFields(result) && "halted_reason" in result ? chatResult.from(result) : construct(result)
    return {
      type,
      ...readFields(rest),
      ...(result === undefined ? {} : { result: ended }),
      ...(opts === undefined ? {} : { options: construct(opts) }),
      ...(usage === undefined ? {} : { usage: usageOf(usage) }),
      ...(metadata === undefined ? {} : { metadata: construct(notes) })
    } as never
  },
  to: (said: Event): readonly [string, unknown] => {
    const { type, ...payload } = said
    switch (said.type) {
      case "raw_chunk":
        return [type, neutral(said.chunk)]
      case "error":
        return [type, neutral(said.error)]
      case "message_completed": {
        const notes = { ...said.metadata, ...(said.usage === undefined ? {} : { usage: usageForm(said.usage) }) }
        const metadata = Object.keys(notes).length === 0 ? {} : { metadata: notes }
        return [type, { message: message.to(said.message), finish_reason: said.finishReason, ...metadata }]
      }
      case "tool_execution_completed":
        return [type, { id: said.id, name: said.name, result: outcomeForm(said.result) }]
      case "ask_user_requested": {
        const { options, ...asked } = fieldsOf(payload)
        return [type, { ...writeFields(asked), opts: neutral(options) }]
      }
      case "step_completed": {
        const { response: made, thread: messages, mode, manualToolCalls } = said
        return [type, writeFields({ response: made, thread: messages, mode, manualToolCalls })]
      }
      case "chat_completed":
        return [type, { result: chatResult.to(said.result) }]
      default:
        return [type, writeFields(payload)]
    }
  }
}

/** The types of cases. */
export const forms = {
  halt: haltForm,
  toolCall,
  message,
  thread,
  request,
  response,
  stepResult,
  chatResult,
  session,
  event,
  many
}
