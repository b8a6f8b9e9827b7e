/** Folds a case's events, and returns a collector's state under the names of the cases. */
import { type Event, StreamCollector } from "@troupe/chat/events"
import { Message } from "@troupe/chat/messages"
import { type Fields, fieldsOf, listOf, present } from "../runner/fields.ts"
import type { Operation, Outcome } from "./outcome.ts"
import { forms } from "./values/forms.ts"
import { construct, neutral, usageForm } from "./values/plain.ts"

/** `collect`: the state, and every requested projection. */
export const collect: Operation = ({ thread, events, initial, project }) => {
  const folded = () => {
    const collector = new StreamCollector(
      thread === null || thread === undefined ? undefined : forms.thread.from(thread)
    )
    for (const event of beforehand(fieldsOf(initial))) collector.apply(event)
    return collector
  }
  try {
    const collector = folded()
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
  const response = collector.toResponse()
  const { halt, thread } = collector
  const { error, ...metadata } = response.metadata
  return {
    current_text: collector.text,
    current_tool_calls: Object.fromEntries(response.toolCalls.map((call) => [call.id, forms.toolCall.to(call)])),
    tool_call_order: response.toolCalls.map((call) => call.id),
    ...present({
      last_message: response.message === undefined ? undefined : forms.message.to(response.message),
      finish_reason: response.finishReason,
      error: error === undefined ? undefined : neutral(error),
      thread: thread === undefined ? undefined : forms.thread.to(thread),
      chat_result: collector.chatResult === undefined ? undefined : forms.chatResult.to(collector.chatResult)
    }),
    done: collector.chatResult !== undefined,
    usage: usageForm(response.usage),
    metadata: neutral(metadata),
    tool_results: collector.toolResults.map(forms.message.to),
    steps: collector.steps.map(forms.stepResult.to),
    halt: halt === undefined ? null : haltPair(halt)
  }
}

const haltPair = (halt: NonNullable<StreamCollector["halt"]>): unknown => {
  switch (halt.type) {
    case "question":
      return ["ask_user", "ask_user", halt.toolCallId, halt.question, neutral(halt.options)]
    case "halt":
      return ["halt", halt.reason, halt.toolCallId, neutral(halt.result)]
    case "tool_error":
      return ["halt", "tool_error", halt.toolCallId, neutral(halt.error)]
    case "cancelled":
      return null
  }
}
