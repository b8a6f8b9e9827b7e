/**
 * Which answers the clients of a chat have read to the end.
 *
 * Owns: the names of the answered messages, while their chat is in memory. Does not own the chats.
 */
import type { LocalChatRef } from "@troupe/chat"
import { isSaid, messageName } from "../wire/index.ts"

/** The most messages of a chat that are remembered. */
const most = 1_000

export class ReadAnswers {
  readonly #read = new WeakMap<LocalChatRef, Set<string>>()

  /** Whether a client has read the answer to this message. */
  isRead(chat: LocalChatRef, id: string): boolean {
    return this.#read.get(chat)?.has(id) === true
  }

  /** Passes on the items of an answer, and remembers it when all of them were read. */
  async *reading<Item>(
    chat: LocalChatRef,
    items: AsyncIterable<Item>,
    signal: AbortSignal
  ): AsyncGenerator<Item, void> {
    yield* items
    if (signal.aborted) return
    const messages = chat.getSnapshot()?.context.thread.messages ?? []
    const at = messages.findLastIndex(isSaid)
    const message = messages[at]
    if (message === undefined) return
    const read = this.#read.get(chat) ?? new Set<string>()
    this.#read.set(chat, read)
    read.add(messageName(message, at))
    for (const first of read) {
      if (read.size <= most) break
      read.delete(first)
    }
  }
}
