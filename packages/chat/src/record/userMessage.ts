/** Makes user messages, and marks those that neither a person nor the model wrote. */
import { type Finding, ValidationError } from "../errors/index.ts"
import { wellFormed } from "../json/index.ts"
import { type ContentPart, isPlainMessage, type Message, unstorable, UserMessage } from "../model/index.ts"
import * as Validate from "../model/Validate.ts"

/** The input of a user: text, content parts, or a whole message. */
export type UserInput = string | Array<ContentPart> | UserMessage

/**
 * A well-formed copy (WELL1) of the message that later changes of the input do not affect. Throws a `ValidationError` (`invalid_message`) for
 * an invalid message, and for a message that cannot be stored: one with a cycle, a `Map`, or more than 100 levels of
 * nesting.
 */
export const userMessage = (input: UserInput): UserMessage => {
  const message: UserMessage =
    typeof input === "string" || Array.isArray(input) ? { role: "user", content: input } : input
  const invalid = Validate.message(message)
  if (invalid !== undefined) throw invalid
  if (message.role !== "user")
    throw new ValidationError("invalid_message", [{ field: ["role"], reason: "must_be_user" }])
  const found = typeof input === "string" || isPlainMessage(message) ? [] : misfits(message)
  if (found.length > 0) throw new ValidationError("invalid_message", found)
  if (typeof input === "string") return wellFormed(message)
  const copy = copyOf(message)
  const lost = unstorable(copy)
  if (lost.length > 0) throw new ValidationError("invalid_message", lost.map(readable))
  return wellFormed(copy)
}

/**
 * Throws a `ValidationError` (`invalid_message`) for a message without content or with blank text alone: a chat needs
 * something to answer, and providers refuse blank text.
 */
export const withContent = (message: UserMessage): UserMessage => {
  const { content } = message
  const isEmpty =
    typeof content === "string" ? isBlank(content) : content.every((part) => part.type === "text" && isBlank(part.text))
  if (!isEmpty) return message
  const reason = "must_not_be_empty; retry() answers the thread as it is"
  throw new ValidationError("invalid_message", [{ field: ["content"], reason }])
}

const isBlank = (text: string): boolean => text.trim() === ""

/** The fields with which a message cannot be stored. */
const misfits = (message: UserMessage): ReadonlyArray<Finding> => {
  const { error } = UserMessage.safeParse(message)
  return (error?.issues ?? []).map(({ path, message: reason }) => ({ field: path.map(String), reason }))
}

/** A path that is short enough to read. */
const readable = ({ field, reason }: Finding): Finding => ({ field: field.slice(0, 6), reason })

const copyOf = (message: UserMessage): UserMessage => {
  try {
    return structuredClone(message)
  } catch (cause) {
    throw new ValidationError("invalid_message", [{ field: [], reason: "must_be_plain_data" }], { cause })
  }
}

/** The message, marked as injected by the hooks of this event. */
export const injected = (message: Message, event: string): Message => ({
  ...message,
  metadata: { ...message.metadata, injected_by: event }
})

/** Whether hooks injected a message: the hooks of one event, or of any. */
export const isInjected = ({ metadata }: Message, event?: string): boolean => {
  const by = metadata?.["injected_by"]
  return event === undefined ? by !== undefined : by === event
}

/** Whether a message is the nudge that begins a second pass. */
export const isNudge = ({ metadata }: Message): boolean => metadata?.["structured_finalize"] === true

/** The message, marked as sent by the handler of a tool. */
export const sentByTool = (message: UserMessage): UserMessage => ({
  ...message,
  metadata: { ...message.metadata, sent_by: "tool" }
})

/** Whether the handler of a tool sent a message to its chat. */
export const isSentByTool = ({ metadata }: Message): boolean => metadata?.["sent_by"] === "tool"
