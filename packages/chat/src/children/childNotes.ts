/**
 * The notes in the records of chats that their children have begun.
 *
 * Owns: the notes that are not saved yet. Does not own the records.
 *
 * SUB15. The record of a chat has each child that has begun, before the first turn of the child, until the chat forgets it (SUB19). A
 *        child that has begun and whose conversation is missing fails with `child_failed`, and never begins again. Notes that come
 *        while one is saved share the next save.
 */
import { type FamilyChat, memberId } from "../family/index.ts"
import type { AgentRef, Conversation } from "../record/index.ts"
import { blank } from "../store/index.ts"
import { chatStopped } from "../view/index.ts"
import { forgotten } from "./childCalls.ts"

/** The functions that the notes need. */
interface NotesHome {
  readonly living: (id: string) => FamilyChat | undefined
  readonly load: (id: string) => Promise<Conversation | undefined>
  readonly begin: (record: Conversation) => Promise<unknown>
  readonly agentRef: (name: string) => AgentRef
  /** How many children a record may have (SUB19). */
  readonly most: number
  /** Whether a call of the child runs. */
  readonly runs: (child: string) => boolean
}

export class ChildNotes {
  readonly #chats = new Map<
    string,
    { next: { readonly children: Array<string>; readonly saved: Promise<void> } | undefined; last: Promise<unknown> }
  >()

  readonly #home: NotesHome

  constructor(home: NotesHome) {
    this.#home = home
  }

  /** Begins the conversation of a member of a team, if the chat has not noted that it has begun. `call` is that of the first message. */
  async member(owner: string, id: string, call: string): Promise<void> {
    const { living, load, begin, agentRef } = this.#home
    const { context, team } = living(owner) ?? {}
    const agent = team?.members.find((member) => memberId(owner, member) === id)
    if (context === undefined || agent === undefined || context.record.children?.includes(id) === true) return
    const parent = { chat: owner, call, depth: (context.record.parent?.depth ?? 0) + 1 }
    if ((await load(id)) === undefined) await begin({ ...blank(id), agent: agentRef(agent), parent })
    await this.begun(owner, id)
  }

  async #save(chat: string, children: ReadonlyArray<string>): Promise<void> {
    const { living, most, runs } = this.#home
    const parent = living(chat)
    if (parent?.context === undefined) throw chatStopped(chat)
    await parent.childrenBegan(children, forgotten(parent.context.record, children, { most, runs }))
  }

  /** Notes a child of this chat; resolves when that is saved. */
  begun(chat: string, child: string): Promise<void> {
    const notes = this.#chats.get(chat) ?? { next: undefined, last: Promise.resolve() }
    this.#chats.set(chat, notes)
    if (notes.next !== undefined) {
      notes.next.children.push(child)
      return notes.next.saved
    }
    const children = [child]
    const saved = notes.last.then(() => {
      notes.next = undefined
      return this.#save(chat, children)
    })
    notes.next = { children, saved }
    const over = (): void => {
      if (notes.next === undefined && notes.last === last) this.#chats.delete(chat)
    }
    const last = saved.then(over, over)
    notes.last = last
    return saved
  }
}
