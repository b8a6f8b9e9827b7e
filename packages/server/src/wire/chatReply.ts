/**
 * A reply: what a chat said and did since its user last spoke, over steps and over turns.
 *
 * RNAME1. A reply has one name, however it is read: it is named after the message it answers. A message is named by the id its
 *         sender gave it, else by its place in the thread.
 */
import type { ChatRef } from "@troupe/chat/chats"
import type { Event } from "@troupe/chat/events"
import type { Message } from "@troupe/chat/messages"

type Context = ChatRef.LiveContext

/** Where a message keeps the id its sender gave it. */
const idKey = "client_message_id"

/** A user's message under the id its sender gave it. */
export const named = (message: Message.UserMessage, id: string | undefined): Message.UserMessage =>
  id === undefined ? message : { ...message, metadata: { ...message.metadata, [idKey]: id } }

/** The name of a message (RNAME1). */
export const messageName = (message: Message.Message, index: number): string => {
  const id = message.metadata?.[idKey]
  return typeof id === "string" ? id : `m${index}`
}

/** The name of the reply to what is called so. */
export const replyName = (asked: string): string => `${asked}.reply`

/** Whether nobody said it: hooks put it there, or the chat asks itself for its answer's last form. */
export const isUnsaid = ({ metadata }: Message.Message): boolean =>
  metadata?.["injected_by"] !== undefined || metadata?.["structured_finalize"] === true

/** Whether a person said it. */
export const isSaid = (message: Message.Message): message is Message.UserMessage =>
  message.role === "user" && !isUnsaid(message)

/** Whether it says a tool's question, and begins no step. */
export const isQuestion = ({ role, metadata }: Message.Message): boolean =>
  role === "assistant" && metadata?.["ask_user"] === true

/** Whether it is what the model said in a step. */
export const isStep = (message: Message.Message): message is Message.AssistantMessage =>
  message.role === "assistant" && !isQuestion(message)

/** A model's message with what belongs to it: its calls' results, and the question one of them asked. */
export interface StepMessages {
  readonly said: Message.AssistantMessage
  readonly behind: ReadonlyArray<Message.Message>
}

/** The steps of some messages. */
export const stepsOf = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<StepMessages> => {
  const steps: Array<{ readonly said: Message.AssistantMessage; readonly behind: Array<Message.Message> }> = []
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
 * What a step left in its thread; `undefined` where that is nothing: cancelled before its first word it leaves no message, and the
 * last there is another's. A step that goes on with the calls of one before has the message of that.
 */
export const leftBy = ({ thread, response }: Event.StepCompleted, goesOn: boolean): StepMessages | undefined => {
  const at = thread.messages.findLastIndex(isStep)
  const said = thread.messages[at]
  if (said?.role !== "assistant") return undefined
  const made = new Set(response.toolCalls.map(({ id }) => id))
  if (!goesOn && !(said.toolCalls ?? []).every(({ id }) => made.has(id))) return undefined
  return { said, behind: thread.messages.slice(at + 1) }
}

/** A reply: its name, and its messages. */
export interface Reply {
  readonly name: string
  readonly messages: ReadonlyArray<Message.Message>
}

/** The reply that a thread ends with. */
export const replyIn = (messages: ReadonlyArray<Message.Message>): Reply => {
  const asked = messages.findLastIndex(isSaid)
  const message = messages[asked]
  return {
    name: replyName(message === undefined ? "m" : messageName(message, asked)),
    messages: messages.slice(asked + 1)
  }
}

/** Whether a turn runs whose end is not known yet. */
export const isRunning = (context: Context | undefined): context is Context =>
  context?.turn !== undefined && context.result === undefined

/** The reply a running turn goes on with, as it stood when the turn began; `opened` is with the step it goes on with. */
export interface Standing {
  readonly name: string
  /** What came before the reply. */
  readonly earlier: ReadonlyArray<Message.Message>
  readonly before: ReadonlyArray<Message.Message>
  readonly opened: ReadonlyArray<Message.Message>
  /** All of it that is in the thread by now. */
  readonly now: ReadonlyArray<Message.Message>
}

/** Where the running turn, or the last one, began. */
export const standingOf = ({ steps, thread }: Context): Standing => {
  const first = steps[0]?.thread.messages ?? thread.messages
  const { name, messages } = replyIn(first)
  const from = first.length - messages.length
  const own = steps.length === 0 ? messages.length : messages.findLastIndex(isStep)
  const before = messages.slice(0, Math.max(own, 0))
  return { name, earlier: first.slice(0, from), before, opened: messages, now: thread.messages.slice(from) }
}

/** What a tool's result is for a program: its JSON, where it is written as such, else its text. */
export const valueOf = (content: string): unknown => {
  try {
    const value: unknown = JSON.parse(content)
    return JSON.stringify(value) === content ? value : content
  } catch {
    return content
  }
}

/** A sentence about what ended a turn: the reason, and nothing of the program. */
export const errorText = (error: unknown): string => {
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

/** The word for what ended a turn, for programs. */
export const errorCode = (error: unknown): string => {
  const reason = typeof error === "object" && error !== null ? Reflect.get(error, "reason") : undefined
  return typeof reason === "string" && /^[a-z_]{1,64}$/u.test(reason) ? reason : "error"
}

/** What a provider's chunk has of the model's reasoning, and which stretch of it that is part of. */
export const reasoningIn = (chunk: unknown): { readonly of: unknown; readonly delta: string } | undefined => {
  if (typeof chunk !== "object" || chunk === null || Reflect.get(chunk, "type") !== "reasoning_delta") return undefined
  const delta: unknown = Reflect.get(chunk, "delta")
  return typeof delta === "string" && delta !== "" ? { of: Reflect.get(chunk, "id"), delta } : undefined
}
