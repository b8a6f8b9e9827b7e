/** Checks the record that a store returned for a chat. */
import { isRecord, SessionError, ValidationError } from "../errors/index.ts"
import { Conversation } from "../record/index.ts"
import {
  answered,
  isPlainMessage,
  type Message,
  messagesFindings,
  type ToolMessage,
  toolResult,
  unpaired
} from "../model/index.ts"
import { type Opened, openToolCalls, withResults } from "../step/index.ts"

/** Throws a `SessionError` when the value is not a chat's record. */
export const checkRecord = (id: string, record: unknown): void => {
  if (record === undefined) return
  const { success, data, error } = withoutPlainMessages(record)
  const invalid = success ? (otherChat(id, data) ?? invalidMessages(record as Conversation)) : error
  if (invalid === undefined) return
  throw new SessionError(
    "invalid_record",
    `The store's record of the chat ${id} is no Conversation; delete or mend it`,
    {
      cause: invalid
    }
  )
}

/** Parses a record; plain messages fit the schema, and are left out (PLAINMSG1). */
const withoutPlainMessages = (record: unknown): ReturnType<typeof Conversation.safeParse> => {
  if (isRecord(record) && isRecord(record["thread"]) && Array.isArray(record["thread"]["messages"])) {
    const messages = record["thread"]["messages"].filter((message) => !isPlainMessage(message))
    const shorter = Conversation.safeParse({ ...record, thread: { ...record["thread"], messages } })
    if (shorter.success) return shorter
  }
  return Conversation.safeParse(record)
}

const otherChat = (id: string, record: Conversation): Error | undefined =>
  record.id === id ? undefined : new Error(`it is the record of the chat ${record.id}`)

/** The error of invalid messages, or of calls without a result that will get none. */
const invalidMessages = ({ thread, inbox = [], pendingToolCalls, open }: Conversation): Error | undefined =>
  invalidList(thread.messages) ??
  invalidList(inbox.map(({ message }) => message)) ??
  (open === undefined
    ? unpaired(pendingToolCalls.reduce((settled, { id }) => answered(settled, toolResult(id, "")), thread))
    : invalidOpening({ thread, open }))

/**
 * Ignores unreadable media sources: they fail the turns of a conversation, but it can still be loaded and rewound (MEDIA1).
 */
const invalidList = (messages: ReadonlyArray<Message>): Error | undefined => {
  const others = messages.some((message) => !isPlainMessage(message))
  const found = others ? messagesFindings(messages, ["messages"], () => undefined) : []
  return found.length === 0 ? undefined : new ValidationError("invalid_thread", found)
}

/** The error of an open step that does not fit its message. */
const invalidOpening = (opened: Opened): Error | undefined => {
  const { calls } = opened.open
  const toolCalls = openToolCalls(opened)
  if (toolCalls.length === 0 || toolCalls.length !== calls.length) return new Error("its open step is of no message")
  const results = toolCalls.flatMap(({ id }, position): ReadonlyArray<[number, ToolMessage]> =>
    calls[position]?.state === "done" ? [] : [[position, toolResult(id, "")]]
  )
  return unpaired(withResults(opened, new Map(results)).thread)
}
