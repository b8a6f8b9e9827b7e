/** A model whose answers a test releases, and a store whose saves a test holds or fails. */
import type { Conversation } from "../../src/record/Conversation.ts"
import type { Message } from "../../src/model/messageShapes.ts"
import { said } from "./scripts.ts"
import type { RecordStore } from "../../src/store/sessionStore.ts"

/** What the user said, of a thread. */
export const userLines = (messages: ReadonlyArray<Message>): ReadonlyArray<string> =>
  messages.filter(({ role }) => role === "user").map(said)

/** A store that fails while `failing`, and notes what it kept. */
export interface MoodyStore extends RecordStore {
  failing: boolean
  readonly saved: ReadonlyArray<Conversation>
}

export const moodyStore = (): MoodyStore => {
  const records = new Map<string, Conversation>()
  const saved: Array<Conversation> = []
  const store: MoodyStore = {
    failing: false,
    saved,
    load: (id) => records.get(id),
    delete: (id) => void records.delete(id),
    save: (record) => {
      if (store.failing) throw new Error("disk")
      saved.push(structuredClone(record))
      records.set(record.id, record)
    }
  }
  return store
}
