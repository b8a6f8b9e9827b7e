/** A store in memory that notes its records and its drafts, and handles each as the test says. */
import type { Conversation } from "../../src/record/Conversation.ts"
import { memory, type SavingStore } from "./savingStore.ts"

/** What it was given. */
export interface GivenDraft {
  readonly text: string
  readonly after: number
}

export interface DraftStore extends SavingStore {
  readonly drafts: ReadonlyArray<GivenDraft>
  readonly saved: ReadonlyArray<Conversation>
}

/** Makes one for one chat; `take` says what becomes of a draft, `save` how long an entry takes. */
export const draftStore = (
  take: (given: GivenDraft) => void | Promise<void> = () => {},
  save: (record: Conversation) => void | Promise<void> = () => {}
): DraftStore => {
  const inner = memory()
  const drafts: Array<GivenDraft> = []
  const saved: Array<Conversation> = []
  return {
    ...inner,
    drafts,
    saved,
    save: (record, saving) => {
      const add = () => {
        saved.push(record)
        return inner.save(record, saving)
      }
      const slow = save(record)
      return slow === undefined ? add() : slow.then(add)
    },
    keepDraft: (id, text, after, fence) => {
      drafts.push({ text, after })
      const keep = () => inner.keepDraft(id, text, after, fence)
      const taken = take({ text, after })
      return taken === undefined ? keep() : taken.then(keep)
    }
  }
}
