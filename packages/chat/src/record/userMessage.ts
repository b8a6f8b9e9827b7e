/**
 * Makes user messages, and marks those that neither a person nor the model wrote.
 *
 * WRITER1. Only the chat says who else wrote a message: an input that claims it, in the present form or in that of earlier records, is
 *          refused.
 */
import { type Finding, ValidationError } from "../errors/index.ts"
import { wellFormed } from "../json/index.ts"
import { type ContentPart, isPlainMessage, type Message, unstorable, UserMessage } from "../model/index.ts"
import * as Validate from "../model/Validate.ts"
import { isEndMessage } from "./BackgroundTask.ts"

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
  if (invalid !== undefined) throw advised(invalid)
  if (message.role !== "user")
    throw new ValidationError("invalid_message", [{ field: ["role"], reason: "must_be_user" }])
  if (writerOf(message) !== undefined || isEndMessage(message))
    throw new ValidationError("invalid_message", [notWritten(message)])
  const found = typeof input === "string" || isPlainMessage(message) ? [] : misfits(message)
  if (found.length > 0) throw new ValidationError("invalid_message", found)
  if (typeof input === "string") return wellFormed(message)
  const copy = copyOf(message)
  const lost = unstorable(copy)
  if (lost.length > 0) throw new ValidationError("invalid_message", lost.map(readable))
  return wellFormed(copy)
}

/** The error, with what to write when the input is no message. */
const advised = (error: ValidationError): ValidationError => {
  const isMessage = error.errors.every(({ reason }) => reason !== "unknown" && reason !== "invalid_type")
  if (isMessage) return error
  return new ValidationError("invalid_message", error.errors, {
    advice: 'write a text, a list of parts, or { role: "user", content }'
  })
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

/** Only the chat says who else wrote a message. */
const notWritten = ({ writer, metadata }: UserMessage): Finding => {
  const reason = "is_of_the_chat, which writes it for messages that no user sends; leave it out"
  const key = ["injected_by", "structured_finalize", "sent_by", "task"].find((one) => metadata?.[one] !== undefined)
  return { field: writer === undefined && key !== undefined ? ["metadata", key] : ["writer"], reason }
}

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

/** A message that the hooks of this event inject. The results of calls are not theirs. */
export const injected = (message: Message, event: string): Message =>
  message.role === "tool" ? message : { ...message, writer: { type: "hook", event } }

/** A message that the handler of a tool sends to its chat. */
export const sentByTool = (message: UserMessage): UserMessage => ({ ...message, writer: { type: "tool" } })

/** Who wrote a message. Records of earlier versions have it in the metadata. */
const writerOf = (message: Message): UserMessage["writer"] => {
  if (message.role === "tool") return undefined
  if (message.writer !== undefined || message.metadata === undefined) return message.writer
  const { injected_by: event, structured_finalize: isNudging, sent_by: sender } = message.metadata
  if (typeof event === "string") return { type: "hook", event }
  if (isNudging === true) return { type: "final_answer" }
  return sender === "tool" ? { type: sender } : undefined
}

/** Whether hooks injected a message: the hooks of one event, or of any. */
export const isInjected = (message: Message, event?: string): boolean => {
  const writer = writerOf(message)
  return writer?.type === "hook" && (event === undefined || event === writer.event)
}

/** Whether a message is the nudge that begins a second pass. */
export const isNudge = (message: Message): boolean => writerOf(message)?.type === "final_answer"

/** Whether the handler of a tool sent a message to its chat. */
export const isSentByTool = (message: Message): boolean => writerOf(message)?.type === "tool"
