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

/** A type whose values have one form of ours: each field as the table says, with the parts that a case, or we, may omit. */
const record = <A extends object>(omitted: Fields, written: Fields = {}, fieldsIn = fieldsOf): Form<A> => ({
  from: (value) => ({ ...omitted, ...readFields(present(fieldsIn(value))) }) as A,
  to: (value) => ({ ...written, ...writeFields(fieldsOf(value)) })
})

const toolCall = record<ToolCall.ToolCall>({ arguments: {} })

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
const thread = record<Thread.Thread>({ messages: [] }, { metadata: {} }, (value) => {
  const { messages, metadata } = Array.isArray(value) ? { messages: value } : fieldsOf(value)
  return { messages, metadata }
})

/** A request to an adapter. */
const request = record<Request>({ messages: [], tools: [] }, { metadata: {} })

/** A response; parts that a case omits are empty. */
const response = record<Response>(
  { outputText: "", toolCalls: [], finishReason: null, usage: {}, metadata: {} },
  { usage: usageForm(Usage.empty) }
)

type Halt = NonNullable<StepResult["halt"]>

const questionOf = (question: unknown, id: unknown, options: unknown) => ({
  question: textOf(question ?? ""),
  toolCallId: textOf(id ?? ""),
  options: fieldsOf(options)
})

const haltOf = ({ halted_reason: reason, halt_tool_call_id: id, ...notes }: Fields): Halt | undefined => {
  const toolCallId = textOf(id ?? "")
  if (isMissing(reason)) return undefined
  if (reason === "tool_error") return { type: "tool_error", toolCallId, error: notes["on_tool_error_exception"] }
  if (reason !== "ask_user") {
    return { type: "halt", toolCallId, reason: textOf(reason), result: notes["halt_result"] ?? null }
  }
  const { pending_question: question, pending_tool_call_id: asking, ask_user_opts: options } = notes
  return { type: "question", ...questionOf(question, asking, options) }
}

const haltNames: Readonly<Record<string, string>> = {
  question: "pending_question",
  options: "ask_user_opts",
  policyFault: "on_tool_error_exception",
  result: "halt_result"
}

/** A halt as the metadata of the step it ended. */
const haltForm = (halt: Halt): Fields => {
  const { type, reason, toolCallId, error: _, ...notes } = fieldsOf(halt)
  const isQuestion = type === "question"
  return {
    halted_reason: isQuestion ? "ask_user" : (reason ?? type),
    ...(type === "cancelled" ? {} : { [isQuestion ? "pending_tool_call_id" : "halt_tool_call_id"]: toolCallId }),
    ...fieldsOf(neutral(renamed(notes, (name) => haltNames[name] ?? name)))
  }
}

/** A step result; parts that a case omits are empty, and its control fields are in its metadata. */
const stepResult: Form<StepResult> = {
  from: (value) => {
    const { metadata, ...parts } = fieldsOf(value)
    const { mode, manual_tool_calls: manual } = fieldsOf(metadata)
    return {
      thread: thread.from([]),
      response: response.from({}),
      toolResults: [],
      done: false,
      ...readFields(present(parts)),
      mode: mode === "manual" ? "manual" : "auto",
      manualToolCalls: many(toolCall).from(manual),
      truncatedToolCalls: [],
      ...present({ halt: haltOf(fieldsOf(construct(metadata))) })
    }
  },
  to: ({ thread: messages, response: made, toolResults, done, halt, error, ...step }) => {
    const mode = step.mode === "manual" ? step.mode : undefined
    const calls = { manualToolCalls: step.manualToolCalls, truncatedToolCalls: step.truncatedToolCalls }
    const some = Object.fromEntries(Object.entries(calls).filter(([, list]) => list.length > 0))
    const metadata = { ...(halt === undefined ? {} : haltForm(halt)), ...writeFields({ mode, ...some, error }) }
    return { ...writeFields({ thread: messages, response: made, toolResults, done }), metadata }
  }
}

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
    const { pending_question: question, pending_tool_call_id: id } = { ...rest, ...present(pending) }
    return {
      thread: thread.from(messages),
      finalResponse,
      steps: many(stepResult).from(steps),
      haltedReason: textOf(reason),
      pendingToolCalls: isManual ? (finalResponse?.toolCalls ?? []) : calls,
      ...(isMissing(question) ? {} : { pendingQuestion: questionOf(question, id, options) }),
      metadata: { ...renamed(rest, camel), ...(manual === undefined ? {} : { manualToolCalls: calls }) }
    }
  },
  to: ({ thread: messages, finalResponse, steps, haltedReason, pendingQuestion: pending, metadata }) => {
    const { structuredFinalize: passes, ...rest } = metadata
    const { pass1Halted, pass2Error } = fieldsOf(passes)
    const finalize = { pass_1_halted: pass1Halted, ...fieldsOf(neutral({ pass_2_error: pass2Error })) }
    const asked =
      pending === undefined ? {} : { pending_question: pending.question, pending_tool_call_id: pending.toolCallId }
    const notes = {
      ...writeFields(rest),
      ...(passes === undefined ? {} : { structured_finalize: finalize }),
      ...(pending === undefined ? {} : { ...asked, ask_user_opts: neutral(pending.options) })
    }
    return { ...writeFields({ thread: messages, finalResponse, steps, haltedReason }), metadata: notes, ...asked }
  }
}

/** A session. Its error, which a case has in its metadata, is that of its last outcome. */
const session = {
  from: (value: unknown): NonNullable<Parameters<typeof Session.make>[0]> => {
    const { pending_question: question, pending_tool_call_id: id, metadata, ...rest } = fieldsOf(value)
    const { error, ...notes } = fieldsOf(construct(metadata))
    return {
      ...readFields(present(rest)),
      ...(isMissing(question) ? {} : { pendingQuestion: questionOf(question, id, {}) }),
      ...(isMissing(error) ? {} : { lastOutcome: { haltedReason: "error", metadata: {}, error } }),
      metadata: notes
    }
  },
  to: (made: Session.Session): Fields => {
    const { id, pendingQuestion: pending, lastOutcome, thread: messages, status, pendingToolCalls, context } = made
    return {
      ...present({ id: id === "" ? undefined : id }),
      ...present({ pending_question: pending?.question, pending_tool_call_id: pending?.toolCallId }),
      ...writeFields({ thread: messages, status, pendingToolCalls, context }),
      metadata: {
        ...fieldsOf(neutral(made.metadata)),
        ...renamed(fieldsOf(neutral(lastOutcome?.metadata ?? {})), snake),
        ...fieldsOf(neutral({ error: lastOutcome?.error }))
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
  response_format: { from: (format) => (format === "text" ? { type: "text" } : construct(format)), to: neutral },
  final_response: response,
  last_message: message,
  chat_result: chatResult,
  steps: many(stepResult),
  tool_results: many(message),
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
  write: writeFields,
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
