/**
 * What clients see of tool calls that ended with an error: a word and an id instead of the text.
 *
 * Owns: the replacement texts. Does not own the conversation: the model, the store and the program have the errors.
 *
 * TERR1. The text, the cause and the value of a tool's error are not sent unless `exposeToolErrors` is set: not in an
 *        event, a view, an entry, a message or a result, in any protocol.
 * TERR2. Instead, `{"error":"failed","id":toolCallId}` is sent, the same live, replayed and loaded.
 * TERR3. A value without an error is sent unchanged: the same object.
 * TERR4. The same holds for the error of a background task: in the message and the input that report its end, and in the end itself. The key
 *        of a task, which has the id of the Troupe, is not sent either.
 */
import { error as failedResult, type LocalChatRef } from "@troupe/chat"
import type { CallItem, ChatResult, ChatSnapshot, StepResult } from "@troupe/chat/chats"
import { ToolError } from "@troupe/chat/errors"
import type { Event } from "@troupe/chat/events"
import { Message, type Thread } from "@troupe/chat/messages"
import type { Outcome } from "@troupe/chat/results"
import type { Store } from "@troupe/chat/store"

type Messages = ReadonlyArray<Message.Message>
type Inbox = ChatSnapshot["context"]["inbox"]
type TaskEnd = Awaited<ReturnType<LocalChatRef["awaitTask"]>>
type Halt = NonNullable<StepResult["halt"]>

/** A reader of a chat, which finds events that it has missed. */
type Reader = Pick<ReturnType<LocalChatRef["attach"]>, "findEarlier">

/** The filter of the parts of a conversation that clients see. */
export interface Shown {
  readonly snapshot: (snapshot: ChatSnapshot | undefined) => ChatSnapshot | undefined
  readonly context: (context: ChatSnapshot["context"]) => ChatSnapshot["context"]
  readonly result: (result: ChatResult) => ChatResult
  readonly commit: (commit: Store.Commit) => Store.Commit
  /** Filters the end of the background task of this id. */
  readonly taskEnd: (end: TaskEnd, id: string) => TaskEnd
  /** Filters the state of a call that a chat reports beside its events. */
  readonly report: (report: CallItem["call"]) => CallItem["call"]
  /** Filters the events of a chat for one reader, which may begin in the middle of a turn. */
  readonly events: (reader: Reader) => (event: Event) => Event
}

const same = <A>(value: A): A => value

/** Shows everything. */
export const allShown: Shown = {
  snapshot: same,
  context: same,
  result: same,
  commit: same,
  taskEnd: same,
  report: same,
  events: () => same
}

/** The replacement text of an error (TERR2). */
const textOf = (id: string, word = "failed"): string => JSON.stringify({ error: word, id })

/** Removes the details of a call's error. A value that is not our own error becomes the replacement text. */
const errorOf = (error: unknown, id: string, word?: string): unknown =>
  error instanceof ToolError
    ? new ToolError(error.reason, {
        message: textOf(id, word),
        toolCallId: id,
        ...(error.toolName === undefined ? {} : { toolName: error.toolName })
      })
    : textOf(id, word)

/** Maps each value once (TERR3). */
const once = <A extends object>(make: (value: A) => A): ((value: A) => A) => {
  const made = new WeakMap<A, A>()
  return (value) => {
    const known = made.get(value)
    if (known !== undefined) return known
    const found = make(value)
    made.set(value, found)
    return found
  }
}

const listOf = <A>(shown: (item: A) => A): ((list: ReadonlyArray<A>) => ReadonlyArray<A>) =>
  once((list) => {
    const found = list.map(shown)
    return found.every((item, index) => item === list[index]) ? list : found
  })

/** Returns the value with these fields, or the value itself when it has them. */
const withFields = <A extends object>(value: A, fields: Partial<A>): A =>
  (Object.keys(fields) as Array<keyof A>).every((key) => fields[key] === value[key]) ? value : { ...value, ...fields }

const isFailed = (message: Message.Message | undefined): boolean =>
  message?.role === "tool" && message.outcome === "failed"

/** What a message says of a background task: its result of the call that began it, or the report of its end. */
const taskIn = ({ metadata }: Message.Message): Task | undefined => metadata?.["task"] as Task | undefined

interface Task {
  readonly id: string
  readonly status?: string
  readonly key?: string
}

const messageOf = once((message: Message.Message): Message.Message => {
  const task = taskIn(message)
  if (message.role === "tool") {
    if (isFailed(message)) return { ...message, content: textOf(message.toolCallId) }
    return task?.key === undefined ? message : { ...message, metadata: { ...message.metadata, task: keyless(task) } }
  }
  if (message.role !== "user" || task?.status !== "failed") return message
  return { ...message, content: `${lineOf(message)}\n${textOf(task.id)}` }
})

/** The task without its key, which has the id of the Troupe. */
const keyless = <A extends { readonly key?: string }>(task: A): A => ({ ...task, key: "" })

/** The first line of a message, which says which task has ended. */
const lineOf = (message: Message.Message): string => Message.text(message).split("\n", 1).join("")

/** The waiting inputs: the ends of tasks are some of them. */
const inboxOf: (inbox: Inbox) => Inbox = listOf(
  once((input) => withFields(input, { message: messageOf(input.message) as typeof input.message }))
)

const messagesOf: (messages: Messages) => Messages = listOf(messageOf)

const threadOf = (thread: Thread.Thread): Thread.Thread => withFields(thread, { messages: messagesOf(thread.messages) })

/** Whether the newest result of a call is an error. */
const hasFailed = (messages: Messages, id: unknown): boolean =>
  isFailed(messages.findLast((message) => message.role === "tool" && message.toolCallId === id))

/** The halt of a failed call has the error as its result; the halt of a fault has the exception of a hook. */
const haltOf = (halt: Halt, failed: boolean): Halt => {
  if (halt.type === "tool_error") {
    const { type, toolCallId, error } = halt
    return { type, toolCallId, error: errorOf(error, toolCallId) }
  }
  if (halt.type !== "halt" || !(failed || halt.reason === hookFault)) return halt
  return { ...halt, result: errorOf(halt.result, halt.toolCallId, failed ? undefined : hookFault) }
}

const hookFault = "hook_crashed"

/** The halt of a step, filtered with the step's own thread. */
const haltIn = ({ halt, thread }: Pick<StepResult, "halt" | "thread">): { readonly halt?: Halt } =>
  halt === undefined ? {} : { halt: haltOf(halt, "toolCallId" in halt && hasFailed(thread.messages, halt.toolCallId)) }

const stepOf = once((step: StepResult): StepResult =>
  withFields(step, {
    thread: threadOf(step.thread),
    toolResults: messagesOf(step.toolResults) as StepResult["toolResults"],
    ...haltIn(step)
  })
)

const stepsOf = listOf(stepOf)

/** The metadata of a result, filtered: it may contain exceptions of tools and hooks, or messages. */
const metadataOf = ({ haltedReason, metadata, thread }: ChatResult): ChatResult["metadata"] => {
  const { error, onToolErrorException: _, haltResult, snapshot, haltToolCallId, haltHook } = metadata
  if (haltedReason === "no_progress" && Array.isArray(snapshot)) {
    return withFields(metadata, { snapshot: messagesOf(snapshot as Messages) })
  }
  const isFault = haltedReason === hookFault
  if (!isFault && haltedReason !== "tool_error" && !hasFailed(thread.messages, haltToolCallId)) return metadata
  const hidden = (value: unknown) => errorOf(value, String(haltToolCallId ?? haltHook), isFault ? hookFault : undefined)
  return {
    ...metadata,
    onToolErrorException: undefined,
    ...(error === undefined ? {} : { error: hidden(error) }),
    ...(haltResult === undefined ? {} : { haltResult: hidden(haltResult) })
  }
}

const resultOf = once((result: ChatResult): ChatResult =>
  withFields(result, { thread: threadOf(result.thread), steps: stepsOf(result.steps), metadata: metadataOf(result) })
)

const contextOf = (context: ChatSnapshot["context"]): ChatSnapshot["context"] => {
  const { thread, steps, result, inbox } = context
  return withFields(context, {
    thread: threadOf(thread),
    inbox: inboxOf(inbox),
    steps: stepsOf(steps),
    ...(result === undefined ? {} : { result: resultOf(result) })
  })
}

/** The halt of an open step may belong to a call whose message is in another entry, so its result is never sent. */
const commitOf = (commit: Store.Commit): Store.Commit => {
  const { messages, state } = commit
  const { open, tasks } = state
  const shown = {
    ...(open?.halt !== undefined && { open: { ...open, halt: haltOf(open.halt, true) } }),
    ...(tasks !== undefined && { tasks: tasks.map(keyless) })
  }
  return withFields(commit, { messages: messagesOf(messages), state: withFields(state, shown) })
}

/** How the call of this id ended, if this is the event of its end. */
const outcomeIn = (event: Event, id: string): Outcome | undefined =>
  event.type === "tool_execution_completed" && event.id === id ? event.outcome : undefined

/** The reader of the events of a child. */
const readerOf = (reader: Reader, chat: string): Reader => ({
  findEarlier: (pick) =>
    reader.findEarlier((event) => (event.type === "child_event" && event.chat === chat ? pick(event.event) : undefined))
})

/** Filters the events of one reader. A call's result follows the event with its outcome. */
const eventsOf = (reader: Reader): ((event: Event) => Event) => {
  const outcomes = new Map<string, Outcome>()
  /** The filters of the events of children, by their chats. */
  const children = new Map<string, (event: Event) => Event>()

  /** Whether a result is an error. A call with an unknown outcome counts as failed. */
  const isError = (id: string): boolean => {
    const outcome = outcomes.get(id) ?? reader.findEarlier((event) => outcomeIn(event, id)) ?? "failed"
    outcomes.delete(id)
    return outcome === "failed"
  }

  return (event) => {
    switch (event.type) {
      case "tool_execution_completed": {
        const { id, outcome, result } = event
        outcomes.set(id, outcome)
        if (outcome !== "failed") return event
        return { ...event, result: failedResult(errorOf(result.type === "error" ? result.reason : null, id)) }
      }
      case "tool_result_encoded":
        return isError(event.id) ? { type: event.type, id: event.id, content: textOf(event.id) } : event
      case "tool_halt": {
        const { toolCallId: id, reason, result, parts: _, ...said } = event
        if (isError(id)) return { ...said, toolCallId: id, reason, content: textOf(id), result: errorOf(result, id) }
        return reason === hookFault ? { ...event, result: errorOf(result, id, hookFault) } : event
      }
      case "child_event": {
        const { chat } = event
        const known = children.get(chat) ?? eventsOf(readerOf(reader, chat))
        children.set(chat, known)
        return withFields(event, { event: known(event.event) })
      }
      case "step_completed":
        return withFields(event, { thread: threadOf(event.thread), ...haltIn(event) })
      case "chat_completed":
        return withFields(event, { result: resultOf(event.result) })
      default:
        return event
    }
  }
}

/** Shows everything but the texts of tools' errors. */
export const withoutToolErrors: Shown = {
  snapshot: (snapshot) => snapshot && withFields(snapshot, { context: contextOf(snapshot.context) }),
  context: contextOf,
  result: resultOf,
  commit: commitOf,
  taskEnd: (end, id) => (end.status === "failed" ? { ...end, text: textOf(id) } : end),
  report: same,
  events: eventsOf
}
