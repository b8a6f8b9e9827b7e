/** Small records of conversations, and waiting inputs. */
import { user } from "../../src/model/Message.ts"
import type { Message } from "../../src/model/messageShapes.ts"
import type { Conversation } from "../../src/record/Conversation.ts"
import type { InboxEntry } from "../../src/record/Inbox.ts"
import { blank } from "../../src/store/commitLog.ts"

/** A record with these messages. */
export const recordWith = (id: string, messages: ReadonlyArray<Message>): Conversation => ({
  ...blank(id),
  thread: { messages }
})

/** A record with these user messages. */
export const said = (id: string, ...texts: ReadonlyArray<string>): Conversation =>
  recordWith(
    id,
    texts.map((text) => user(text))
  )

/** A waiting input with this text. */
export const inputOf = (id: string, text: string): InboxEntry => ({ id, whenBusy: "queue", message: user(text) })
