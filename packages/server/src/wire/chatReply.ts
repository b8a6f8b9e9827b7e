/**
 * A reply: the messages of a chat since its user's last message, over steps and over turns.
 *
 * RNAME1. A reply has one name, whichever way it is read: it is named after the message it answers. A message is named by
 *         the id its sender gave it, else by its index in the thread.
 * RNAME2. Another answer to a message has another name than each answer before it. The number of the answer is stored with the message.
 */
import type { ChatSnapshot } from "@troupe/chat/chats"
import type { Event } from "@troupe/chat/events"
import type { Message } from "@troupe/chat/messages"
import { HttpError } from "../errors/index.ts"

type Context = ChatSnapshot["context"]

/** The metadata keys of the id, of the metadata and of the data that a sender gave its message. */
const idKey = "client_message_id"
const metadataKey = "client_metadata"
const dataKey = "client_data"

/** Adds the sender's id, its metadata and its data, which no model gets, to a user's message. */
export const named = (
  message: UserMessage,
  id: string | undefined,
  metadata?: unknown,
  data?: ReadonlyArray<unknown>
): UserMessage => {
  if (id === undefined && metadata === undefined && data === undefined) return message
  const sent = {
    ...(id === undefined ? {} : { [idKey]: id }),
    ...(metadata === undefined ? {} : { [metadataKey]: metadata }),
    ...(data === undefined ? {} : { [dataKey]: data })
  }
  return { ...message, metadata: { ...message.metadata, ...sent } }
}

/** The metadata that the sender gave its message. */
export const sentMetadata = ({ metadata }: Message.Message): unknown => metadata?.[metadataKey]

/** The data that the sender gave its message. */
export const sentData = ({ metadata }: Message.Message): unknown => metadata?.[dataKey]

/** The name of a message (RNAME1). */
export const messageName = (message: Message.Message, index: number): string => {
  const id = message.metadata?.[idKey]
  return typeof id === "string" ? id : `m${index}`
}

/** The name of the reply to the message of this name; `attempt` is the number of the answer (RNAME2). */
export const replyName = (asked: string, attempt = 1): string => `${asked}.reply${attempt === 1 ? "" : `.${attempt}`}`

/** The name of the reply to a message. */
export const replyNameOf = (message: UserMessage, index: number): string =>
  replyName(messageName(message, index), message.attempt)

/** The number and the name of the next answer to the last message of a person (RNAME2). */
export const nextReply = (
  messages: ReadonlyArray<Message.Message>
): { readonly attempt: number; readonly name: string } => {
  const at = messages.findLastIndex(isSaid)
  const message = messages[at]
  if (message === undefined || !isSaid(message)) return { attempt: 1, name: replyName("m") }
  const attempt = (message.attempt ?? 1) + 1
  return { attempt, name: replyName(messageName(message, at), attempt) }
}

type UserMessage = Extract<Message.Message, { role: "user" }>

/** Whether no person sent the message: a hook added it, or the chat asked for its final answer. */
export const isUnsaid = (message: Message.Message): boolean => {
  const { metadata } = message
  if (message.role !== "tool" && message.writer !== undefined) return isHidden.has(message.writer.type)
  // Records of earlier versions.
  return metadata?.["injected_by"] !== undefined || metadata?.["structured_finalize"] === true
}

const isHidden: ReadonlySet<string> = new Set(["hook", "final_answer"])

/** Whether a person sent the message. */
export const isSaid = (message: Message.Message): message is UserMessage =>
  message.role === "user" && !isUnsaid(message)

/** Whether the message is a tool's question, which begins no step. */
export const isQuestion = ({ role, metadata }: Message.Message): boolean =>
  role === "assistant" && metadata?.["ask_user"] === true

/** Whether the message is the model's reply of a step. */
export const isStep = (message: Message.Message): message is Extract<Message.Message, { role: "assistant" }> =>
  message.role === "assistant" && !isQuestion(message)

/** A model's message with the results of its calls, and the question one of them asked. */
export interface StepMessages {
  readonly said: Extract<Message.Message, { role: "assistant" }>
  readonly behind: ReadonlyArray<Message.Message>
}

/** The steps of some messages. */
export const stepsOf = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<StepMessages> => {
  const steps: Array<{
    readonly said: Extract<Message.Message, { role: "assistant" }>
    readonly behind: Array<Message.Message>
  }> = []
  for (const message of messages) {
    if (isStep(message)) steps.push({ said: message, behind: [] })
    else if (!isUnsaid(message)) steps.at(-1)?.behind.push(message)
  }
  return steps
}

/** The calls of the last step. */
export const callsOf = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<string> =>
  (messages.findLast(isStep)?.toolCalls ?? []).map(({ id }) => id)

/**
 * The messages that a step added to its thread; `undefined` if none: a step that is cancelled before its first word adds no
 * message, and the last message belongs to another step. A step that continues the calls of an earlier one has that step's
 * message, unless a person's message is behind it: then it belongs to an earlier reply.
 */
export const leftBy = (
  { thread, response }: Extract<Event, { type: "step_completed" }>,
  goesOn: boolean
): StepMessages | undefined => {
  const at = thread.messages.findLastIndex(isStep)
  const said = thread.messages[at]
  if (said?.role !== "assistant") return undefined
  const isPaused = said.metadata?.["paused"] === true
  if (isPaused && response.message?.metadata?.["paused"] !== true) return undefined
  const made = new Set(response.toolCalls.map(({ id }) => id))
  if (!goesOn && !(said.toolCalls ?? []).every(({ id }) => made.has(id))) return undefined
  const messages = thread.messages.slice(at + 1)
  return messages.some(isSaid) ? undefined : { said, behind: messages }
}

/** A reply: its name, and its messages. */
export interface Reply {
  readonly name: string
  readonly messages: ReadonlyArray<Message.Message>
}

/** The reply at the end of a thread. */
export const replyIn = (messages: ReadonlyArray<Message.Message>): Reply => {
  const asked = messages.findLastIndex(isSaid)
  const message = messages[asked]
  return {
    name: message === undefined || !isSaid(message) ? replyName("m") : replyNameOf(message, asked),
    messages: messages.slice(asked + 1)
  }
}

/** Whether a turn is running. */
export const isRunning = (context: Context | undefined): context is Context =>
  context?.turn !== undefined && context.result === undefined

/**
 * The reply that a running turn continues, as it was when the turn began. `opened` includes the step that the turn
 * continues.
 */
export interface Standing {
  readonly name: string
  /** The messages before the reply. */
  readonly earlier: ReadonlyArray<Message.Message>
  readonly before: ReadonlyArray<Message.Message>
  readonly opened: ReadonlyArray<Message.Message>
  /** All of the reply's messages in the thread now. */
  readonly now: ReadonlyArray<Message.Message>
}

/** The start of the running turn, or of the last one. */
export const standingOf = ({ steps, thread }: Context): Standing => {
  const first = steps[0]?.thread.messages ?? thread.messages
  const { name, messages } = replyIn(first)
  const from = first.length - messages.length
  const own = steps.length === 0 ? messages.length : messages.findLastIndex(isStep)
  const before = messages.slice(0, Math.max(own, 0))
  return { name, earlier: first.slice(0, from), before, opened: messages, now: thread.messages.slice(from) }
}

/** A tool's result as a value: parsed if it is JSON, else its text. */
export const valueOf = (content: string): unknown => {
  try {
    const value: unknown = JSON.parse(content)
    return JSON.stringify(value) === content ? value : content
  } catch {
    return content
  }
}

/** A message for the error that ended a turn: the reason, without the program's details. */
export const errorText = (error: unknown): string => {
  if (error instanceof HttpError) return error.message
  const reason = typeof error === "object" && error !== null ? Reflect.get(error, "reason") : undefined
  const kind = typeof error === "object" && error !== null ? Reflect.get(error, "_tag") : undefined
  const known = typeof reason === "string" && /^[a-z_]{1,64}$/u.test(reason) ? `: ${reason.replaceAll("_", " ")}` : ""
  switch (kind) {
    case "AdapterError":
      return `The model request failed${known}`
    case "StreamError":
      return `The stream of the model broke${known}`
    case "SessionError":
      return `The turn could not go on${known}`
    case "ToolError":
      return `A tool call failed${known}`
    default:
      return "The turn failed"
  }
}

/** The code of the error that ended a turn. */
export const errorCode = (error: unknown): string => {
  if (error instanceof HttpError) return error.code
  const reason = typeof error === "object" && error !== null ? Reflect.get(error, "reason") : undefined
  return typeof reason === "string" && /^[a-z_]{1,64}$/u.test(reason) ? reason : "error"
}
