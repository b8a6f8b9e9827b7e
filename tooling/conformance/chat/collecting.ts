/** Folds a case's events, and returns a collector's state under the names of the cases. */
import { type Event, StreamCollector } from "@troupe/chat/events"
import { Message } from "@troupe/chat/messages"
import { type Fields, fieldsOf, listOf, present } from "../runner/fields.ts"
import type { Operation, Outcome } from "./outcome.ts"
import { forms } from "./values/forms.ts"
import { construct, neutral } from "./values/plain.ts"

/** `collect`: the state, and every requested projection. */
export const collect: Operation = ({ thread, events, initial, project }) => {
  try {
    const collector = new StreamCollector(
      thread === null || thread === undefined ? undefined : forms.thread.from(thread)
    )
    for (const event of beforehand(fieldsOf(initial))) collector.apply(event)
    const before = JSON.stringify(stateForm(collector))
    for (const event of listOf(events)) collector.apply(forms.event.from(event))
    const after = stateForm(collector)
    if (project === "step_result") return { stepResult: forms.stepResult.to(collector.toStepResult()) }
    if (project === "chat_result") return { chatResult: forms.chatResult.to(collector.toChatResult()) }
    return {
      state: after,
      unchanged: JSON.stringify(after) === before,
      response: forms.response.to(collector.toResponse()),
      ...(thread === null || thread === undefined ? {} : { stepResult: forms.stepResult.to(collector.toStepResult()) }),
      ...projected("chatResult", () => forms.chatResult.to(collector.toChatResult()))
    }
  } catch (failure) {
    return { failure }
  }
}

const projected = (facet: string, project: () => Fields): Outcome => {
  try {
    return { [facet]: project() }
  } catch {
    return {}
  }
}

/** The events that bring a collector into the initial state of a case. */
const beforehand = (initial: Fields): ReadonlyArray<Event> => {
  const { tool_results: results, halt, metadata, error, ...said } = initial
  const [kind, reason, haltId, detail, opts] = listOf(halt)
  const messages = listOf(results).map(
    (result) => forms.message.from(result) as Extract<Message.Message, { role: "tool" }>
  )
  const text = (id: unknown) => messages.find((message) => message.toolCallId === id)?.content
  const halting: ReadonlyArray<unknown> =
    kind === "ask_user"
      ? [["ask_user_requested", { tool_call_id: haltId, tool_name: "", question: detail, opts: opts ?? {} }]]
      : kind === "halt"
        ? [["tool_halt", { tool_call_id: haltId, reason, result: detail, content: text(haltId) ?? "" }]]
        : []
  return [
    ...alreadySaid(said).map(forms.event.from),
    ...messages
      .filter((message) => kind === undefined || message.toolCallId !== haltId)
      .map(
        (message) => ({ type: "tool_result_encoded", id: message.toolCallId, content: Message.text(message) }) as const
      ),
    ...halting.map(forms.event.from),
    ...(metadata === undefined
      ? []
      : [{ type: "message_started", message: Message.assistant(""), metadata: fieldsOf(metadata) } as const]),
    ...(error === undefined ? [] : [{ type: "error", error: construct(error) } as const])
  ]
}

const alreadySaid = (said: Fields): ReadonlyArray<unknown> => {
  const { current_text: text, current_tool_calls: calls, last_message: message, finish_reason: reason, usage } = said
  const completed = { message: message ?? { role: "assistant", content: "" }, finish_reason: reason ?? null }
  return [
    ...(text === undefined ? [] : [["text_delta", { id: null, delta: text }]]),
    ...Object.values(fieldsOf(calls)).map((call) => ["tool_call_completed", { raw_arguments: "", ...fieldsOf(call) }]),
    ...(message === undefined && reason === undefined ? [] : [["message_completed", completed]]),
    ...(usage === undefined ? [] : [["raw_chunk", { $usage: usage }]])
  ]
}

/** A collector's state under the names of cases. */
export const stateForm = (collector: StreamCollector): Fields => {
  const { text: currentText, halt, thread, chatResult, toolResults, steps } = collector
  const { message: lastMessage, finishReason, toolCalls, usage, metadata } = collector.toResponse()
  const { error, ...notes } = metadata
  return {
    ...forms.write({ currentText, toolResults, steps, usage, metadata: notes }),
    ...present(forms.write({ lastMessage, finishReason, error, thread, chatResult })),
    current_tool_calls: Object.fromEntries(toolCalls.map((call) => [call.id, forms.toolCall.to(call)])),
    tool_call_order: toolCalls.map(({ id }) => id),
    done: chatResult !== undefined,
    halt: halt === undefined || halt.type === "cancelled" ? null : haltPair(halt)
  }
}

const haltPair = (halt: Exclude<NonNullable<StreamCollector["halt"]>, { readonly type: "cancelled" }>): unknown => {
  if (halt.type === "question") {
    return ["ask_user", "ask_user", halt.toolCallId, halt.question, neutral(halt.options)]
  }
  const [reason, result] = halt.type === "halt" ? [halt.reason, halt.result] : ["tool_error", halt.error]
  return ["halt", reason, halt.toolCallId, neutral(result)]
}
