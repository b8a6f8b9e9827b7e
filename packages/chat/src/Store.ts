/**
 * The port to where chats are kept.
 *
 * @module
 */
import type { ChatRecord } from "./ChatRecord.ts"

/**
 * Keeps the committed state of chats.
 *
 * **Contract**: `save` has kept the record when it returns, or when its promise resolves; the chat goes on only then. A
 * record replaces the one before it. `load` gives the last saved one. A throw or a rejection says that the record was not
 * kept; that, or no answer in five seconds, ends the chat's turn with a `store_failed` error, and the next turn saves again. A save
 * that settles after that is overwritten by the newest record kept since.
 * Records are plain data.
 *
 * **Concurrency**: operations on one chat come one after another, but behind one that has not settled in five seconds; those on different chats at the same time. Two Troupes
 * must not keep the same chat at once.
 */
export interface Store {
  readonly load: (id: string) => ChatRecord | undefined | Promise<ChatRecord | undefined>
  readonly save: (record: ChatRecord) => void | Promise<void>
  readonly delete: (id: string) => void | Promise<void>
}

/** Keeps records as long as the program runs. */
export const memory = (): Store => {
  const records = new Map<string, ChatRecord>()
  return {
    load: (id) => records.get(id),
    save: (record) => void records.set(record.id, record),
    delete: (id) => void records.delete(id)
  }
}
