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
 * record replaces the one before it. `load` gives the last saved one. A throw or rejection ends the chat's process, and its
 * supervisor starts it again from what is kept.
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
