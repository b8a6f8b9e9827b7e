/**
 * The notes in the records of chats that their children have begun.
 *
 * Owns: the notes that are not saved yet. Does not own the records.
 *
 * SUB15. The record of a chat has each child that has begun, before the first turn of the child, until the chat forgets it (SUB19). A
 *        child that has begun and whose conversation is missing fails with `child_failed`, and never begins again. Notes that come
 *        while one is saved share the next save.
 */

export class ChildNotes {
  readonly #chats = new Map<
    string,
    { next: { readonly children: Array<string>; readonly saved: Promise<void> } | undefined; last: Promise<unknown> }
  >()

  /** Notes a child of this chat; resolves when that is saved. */
  begun(chat: string, child: string, save: (children: ReadonlyArray<string>) => Promise<void>): Promise<void> {
    const notes = this.#chats.get(chat) ?? { next: undefined, last: Promise.resolve() }
    this.#chats.set(chat, notes)
    if (notes.next !== undefined) {
      notes.next.children.push(child)
      return notes.next.saved
    }
    const children = [child]
    const saved = notes.last.then(() => {
      notes.next = undefined
      return save(children)
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
