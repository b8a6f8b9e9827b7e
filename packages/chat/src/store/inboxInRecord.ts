/**
 * The waiting inputs of a store without rows for them: they are in the `inbox` of the newest record.
 *
 * Owns: the newest record of each chat that is loaded. Does not own the order of the operations (`storeServer.ts`).
 *
 * PLAIN1. Every saved record has all inputs that wait: a save keeps those of the record before, except the ones it takes.
 * PLAIN2. A late write does not change what later writes are made of.
 */
import { isPromiseLike } from "../async/index.ts"
import type { Conversation, InboxEntry } from "../record/index.ts"
import { blank } from "./commitLog.ts"
import { checkRecord } from "./recordChecks.ts"
import type { Accepted, Answer, Precondition, Saved, Store } from "./sessionStore.ts"

/** The newest record of a chat, and the number of the write that stored it. */
interface Newest {
  record: Conversation | undefined
  write: number
}

export class InboxInRecord implements Store {
  readonly #store: Store
  readonly #newest = new Map<string, Newest>()
  #writes = 0

  constructor(store: Store) {
    this.#store = store
  }

  load(id: string): Answer<Conversation | undefined> {
    return after(this.#store.load(id), (record) => {
      this.#keep(id, record)
      return record
    })
  }

  save(record: Conversation, precondition?: Precondition): Answer<void | Saved> {
    const newest = this.#newest.get(record.id) ?? this.#keep(record.id, record)
    const takes = new Set(precondition?.takes)
    const inbox = (newest.record?.inbox ?? []).filter(({ id }) => !takes.has(id))
    return this.#write(newest, { ...record, inbox: inbox.length === 0 ? undefined : inbox })
  }

  /** Writes the newest record, also when it has the input already: an earlier write may have been late. */
  accept(id: string, input: InboxEntry): Answer<Accepted & Partial<Saved>> {
    return after(this.#known(id), (newest) => {
      const { inbox = [], ...record } = newest.record ?? blank(id)
      const waiting = inbox.find((entry) => entry.id === input.id)
      const written = this.#write(newest, { ...record, inbox: waiting === undefined ? [...inbox, input] : inbox })
      return after(written, (saved) => ({ input: waiting ?? input, isNew: waiting === undefined, ...saved }))
    })
  }

  delete(id: string): Answer<void> {
    this.forget(id)
    return this.#store.delete(id)
  }

  /** Forgets the record of a chat whose process has ended. */
  forget(id: string): void {
    this.#newest.delete(id)
  }

  #known(id: string): Answer<Newest> {
    const newest = this.#newest.get(id)
    if (newest !== undefined) return newest
    return after(this.#store.load(id), (record) => {
      checkRecord(id, record)
      return this.#keep(id, record)
    })
  }

  #keep(id: string, record: Conversation | undefined): Newest {
    const newest = { record, write: this.#writes }
    this.#newest.set(id, newest)
    return newest
  }

  #write(newest: Newest, record: Conversation): Answer<void | Saved> {
    const write = ++this.#writes
    return after(this.#store.save(record), (saved) => {
      if (write > newest.write) Object.assign(newest, { record, write })
      return saved
    })
  }
}

/** Continues with a value, at once if it is there. */
const after = <A, B>(value: A | PromiseLike<A>, next: (value: A) => Answer<B>): Answer<B> =>
  isPromiseLike(value) ? continued(value, next) : next(value)

const continued = async <A, B>(value: PromiseLike<A>, next: (value: A) => Answer<B>): Promise<B> => next(await value)
