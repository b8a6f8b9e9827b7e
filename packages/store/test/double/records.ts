/** Records of conversations. */
import { user } from "@troupe/chat"
import { Message, Usage } from "@troupe/chat/messages"
import { type Conversation, Store } from "@troupe/chat/store"

/** A record of these messages. */
export const recordOf = (
  id: string,
  messages: ReadonlyArray<Message.Message>,
  rest: Partial<Conversation> = {}
): Conversation => ({
  id,
  thread: { messages },
  usage: Usage.empty,
  running: false,
  pendingToolCalls: [],
  ...rest
})

/** Writes a record whole, and returns the number of its entry. */
export const save = async (
  store: Pick<Store.SessionStore, "append">,
  record: Conversation,
  appending?: Store.Appending
): Promise<{ readonly seq: number | undefined }> => {
  const { version } = await store.append(record.id, [Store.saved(record)], appending)
  return { seq: version }
}

/** A record of what the user said. */
export const said = (id: string, ...texts: ReadonlyArray<string>): Conversation =>
  recordOf(
    id,
    texts.map((text) => user(text))
  )

/** A record of a call whose handler failed. */
export const withError: Conversation = recordOf("failed", [
  user("How are you?"),
  { ...Message.assistant(""), toolCalls: [{ id: "c1", name: "look", arguments: {} }] },
  { role: "tool", toolCallId: "c1", content: "password hunter2", outcome: "failed" }
])

/** An id that cannot be made shorter, of so many bytes. */
export const idOf = (bytes: number): string => {
  let [id, seed] = ["", 7]
  while (id.length < bytes) {
    seed = (seed * 48_271) % 2_147_483_647
    id += String.fromCodePoint(33 + (seed % 90))
  }
  return id
}
