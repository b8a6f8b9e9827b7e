/**
 * The checks of conversations that are compacted.
 *
 * LAB31. A compaction that a client has seen is stored whole: the thread has the messages that it names, and a request with it has each
 *        call with its result. No later one leaves out fewer messages.
 */
import { unpaired } from "../../../packages/chat/src/model/messageFindings.ts"
import { sentMessages } from "../../../packages/chat/src/compaction/sent.ts"
import { pendingOf } from "./conversations.ts"
import { type Line, ofType } from "./history.ts"
import type { Kept } from "./kept.ts"

/** LAB31 */
export const wrongCompactions = (lines: ReadonlyArray<Line>, { records }: Kept): ReadonlyArray<string> => [
  ...Array.from(records.values()).flatMap((record) => {
    const { id, thread } = record
    const { messages, compaction } = thread
    if (compaction === undefined) return []
    const { upTo, kept, summary } = compaction
    const isWhole = upTo <= messages.length && summary !== "" && kept.every((place) => place < upTo)
    const alone = pendingOf(record).length > 0 ? undefined : unpaired({ messages: sentMessages(thread) })
    return [
      ...(isWhole ? [] : [`LAB31: the compaction of ${id} leaves out ${upTo} of ${messages.length} messages`]),
      ...(alone === undefined ? [] : [`LAB31: a request of ${id} has a call without its result`])
    ]
  }),
  ...ofType(lines, "compacted").flatMap(({ chat, upTo }) => {
    const stored = records.get(chat)?.thread.compaction?.upTo ?? 0
    return stored >= upTo ? [] : [`LAB31: ${chat} leaves out ${stored} messages instead of ${upTo}`]
  })
]
