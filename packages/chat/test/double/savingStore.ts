/**
 * A store in memory whose writes are records: `append` calls `save` with the record that the entries lead to. A test that replaces
 * `save` watches, delays or fails the writes.
 */
import { isPromiseLike } from "../../src/async/awaitable.ts"
import type { Conversation } from "../../src/record/Conversation.ts"
import type { Entry } from "../../src/record/entries.ts"
import * as Store from "../../src/store/Store.ts"
import type { Answer, Appending, SessionStore } from "../../src/store/sessionStore.ts"

/** The entries of a write, and what they follow; without entries the record is written whole. */
export interface Saving extends Omit<Appending, "record"> {
  readonly entries?: ReadonlyArray<Entry>
}

export interface SavingStore extends SessionStore {
  readonly save: (record: Conversation, saving?: Saving) => void | Promise<void>
}

const then = <A, B>(value: Answer<A>, next: () => B): Answer<B> => (isPromiseLike(value) ? after(value, next) : next())

const after = async <B>(value: PromiseLike<unknown>, next: () => B): Promise<B> => {
  await value
  return next()
}

/** The store with `save`, through which it appends. */
const saving = (store: SessionStore): SavingStore => ({
  ...store,
  append(id, entries, { record: before, ...appending } = {}) {
    if (entries.length === 0 && appending.after === undefined) return store.append(id, entries, appending)
    const record = entries.reduce(Store.evolve, before ?? Store.blank(id))
    const version = (appending.after ?? 0) + 1
    return then(this.save(record, { ...appending, entries }), () => ({ ...record, version }))
  },
  save: (record, { entries = [Store.saved(record)], ...appending } = {}) =>
    then(store.append(record.id, entries, appending), () => {})
})

export const memory = (...options: Parameters<typeof Store.memory>): SavingStore => saving(Store.memory(...options))
