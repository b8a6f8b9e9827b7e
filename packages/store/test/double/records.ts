/** Records of conversations. */
import { type ChatRecord, type Message, Usage, user } from "@troupe/chat"

/** A record of these messages. */
export const recordOf = (
  id: string,
  messages: ReadonlyArray<Message.Message>,
  rest: Partial<ChatRecord.ChatRecord> = {}
): ChatRecord.ChatRecord => ({
  id,
  thread: { messages },
  usage: Usage.empty,
  running: false,
  pendingToolCalls: [],
  ...rest
})

/** A record of what the user said. */
export const said = (id: string, ...texts: ReadonlyArray<string>): ChatRecord.ChatRecord =>
  recordOf(
    id,
    texts.map((text) => user(text))
  )
