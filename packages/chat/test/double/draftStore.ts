/** A store that numbers its entries and takes drafts, each as the test says. */
import type { Conversation } from "../../src/record/Conversation.ts"
import type { Saved, Store } from "../../src/store/sessionStore.ts"

/** What it was given. */
export interface GivenDraft {
  readonly text: string
  readonly after: number
}

export interface DraftStore extends Store {
  readonly drafts: ReadonlyArray<GivenDraft>
  readonly saved: ReadonlyArray<Conversation>
  readonly keepDraft: (id: string, text: string, after: number) => void | Promise<void>
}

/** Makes one for one chat; `take` says what becomes of a draft, `save` how long an entry takes. */
export const draftStore = (
  take: (given: GivenDraft) => void | Promise<void> = () => {},
  save: (record: Conversation) => void | Promise<void> = () => {}
): DraftStore => {
  const drafts: Array<GivenDraft> = []
  const saved: Array<Conversation> = []
  let draft: string | undefined
  const keep = (text: string, after: number) => {
    if (after === saved.length) draft = text
  }
  const add = (record: Conversation): Saved => {
    draft = undefined
    saved.push(record)
    return { seq: saved.length }
  }
  return {
    drafts,
    saved,
    load: () => {
      const record = saved.at(-1)
      return record && { ...record, version: saved.length, ...(draft === undefined ? {} : { draft }) }
    },
    save: (record) => {
      const slow = save(record)
      return slow === undefined ? add(record) : slow.then(() => add(record))
    },
    delete: () => void saved.splice(0),
    keepDraft: (_, text, after) => {
      drafts.push({ text, after })
      const taken = take({ text, after })
      return taken === undefined ? keep(text, after) : taken.then(() => keep(text, after))
    }
  }
}
