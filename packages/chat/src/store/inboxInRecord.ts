/**
 * A store without a log as a store that takes entries and has rows for waiting inputs: it stores the record that the entries lead to,
 * with the waiting inputs in its `inbox`.
 *
 * Owns: the newest record of each chat that is loaded. Does not own the order of the operations (`storeServer.ts`).
 *
 * PLAIN1. Every saved record has all inputs that wait: a save keeps those of the record before, except the ones it takes.
 * PLAIN2. A late write does not change what later writes are made of, and neither does a late load: a record is the newest one only
 *         if no other operation on the chat has begun since its load did.
 */
import { isPromiseLike } from "../async/index.ts"
import { refused, isRecord, SessionError, ValidationError } from "../errors/index.ts"
import { Conversation, type Entry, evolve, type InboxEntry } from "../record/index.ts"
import { blank } from "./commitLog.ts"
import type { Accepted, Answer, Appending, RecordStore } from "./sessionStore.ts"
import {
  answered,
  isPlainMessage,
  type Message,
  messagesFindings,
  type ToolMessage,
  toolResult,
  unpaired
} from "../model/index.ts"
import { type Opened, openToolCalls, withResults } from "../step/index.ts"

/** The newest record of a chat, and the number of the write that stored it. */
interface Newest {
  record: Conversation | undefined
  write: number
}

export class InboxInRecord {
  readonly #store: RecordStore
  readonly #newest = new Map<string, Newest>()
  /** The load of each chat that no other operation has followed. */
  readonly #loading = new Map<string, object>()
  #writes = 0

  constructor(store: RecordStore) {
    this.#store = store
  }

  load(id: string): Answer<Conversation | undefined> {
    const isNewest = this.#begin(id)
    return after(this.#store.load(id), (record) => {
      if (isNewest()) this.#keep(id, record)
      return record
    })
  }

  append(id: string, entries: ReadonlyArray<Entry>, { takes = [] }: Appending = {}): Answer<Conversation> {
    return after(this.#known(id), (newest) => {
      const { inbox = [], ...before } = newest.record ?? blank(id)
      const record = entries.reduce(evolve, before)
      const left = takes.length === 0 ? inbox : inbox.filter((input) => !takes.includes(input.id))
      return after(this.#write(id, newest, { ...record, inbox: left.length === 0 ? undefined : left }), () => record)
    })
  }

  /** Writes the newest record, also when it has the input already: an earlier write may have been late. */
  accept(id: string, input: InboxEntry): Answer<Accepted> {
    return after(this.#known(id), (newest) => {
      const { inbox = [], ...record } = newest.record ?? blank(id)
      const waiting = inbox.find((entry) => entry.id === input.id)
      const written = this.#write(id, newest, { ...record, inbox: waiting === undefined ? [...inbox, input] : inbox })
      return after(written, () => ({ input: waiting ?? input, isNew: waiting === undefined }))
    })
  }

  delete(id: string): Answer<void> {
    this.forget(id)
    return this.#store.delete(id)
  }

  /** Forgets the record of a chat whose process has ended. */
  forget(id: string): void {
    this.#newest.delete(id)
    this.#loading.delete(id)
  }

  /** Throws when the load is so late that other operations have begun: what follows from its record would undo theirs. */
  #known(id: string): Answer<Newest> {
    const newest = this.#newest.get(id)
    if (newest !== undefined) return newest
    const isNewest = this.#begin(id)
    return after(this.#store.load(id), (record) => {
      if (!isNewest()) throw refused("store_conflict", id)
      checkRecord(id, record)
      return this.#keep(id, record)
    })
  }

  /** Begins a load; returns whether no other operation on the chat has begun since. */
  #begin(id: string): () => boolean {
    const load = {}
    this.#loading.set(id, load)
    return () => this.#loading.get(id) === load
  }

  #keep(id: string, record: Conversation | undefined): Newest {
    const newest = { record, write: this.#writes }
    this.#newest.set(id, newest)
    this.#loading.delete(id)
    return newest
  }

  #write(id: string, newest: Newest, record: Conversation): Answer<void> {
    this.#loading.delete(id)
    const write = ++this.#writes
    return after(this.#store.save(record), () => {
      if (write > newest.write) Object.assign(newest, { record, write })
    })
  }
}

/** Continues with a value, at once if it is there. */
const after = <A, B>(value: A | PromiseLike<A>, next: (value: A) => Answer<B>): Answer<B> =>
  isPromiseLike(value) ? continued(value, next) : next(value)

const continued = async <A, B>(value: PromiseLike<A>, next: (value: A) => Answer<B>): Promise<B> => next(await value)

/** Throws a `SessionError` when the value is not a chat's record. */
export const checkRecord = (id: string, record: unknown): void => {
  if (record === undefined) return
  const { success, data, error } = withoutPlainMessages(record)
  const invalid = success ? (otherChat(id, data) ?? invalidMessages(record as Conversation)) : error
  if (invalid === undefined) return
  throw new SessionError(
    "invalid_record",
    `The store's record of the chat ${id} is no Conversation; delete or mend it`,
    {
      cause: invalid
    }
  )
}

/** Parses a record; plain messages fit the schema, and are left out (PLAINMSG1). */
const withoutPlainMessages = (record: unknown): ReturnType<typeof Conversation.safeParse> => {
  if (isRecord(record) && isRecord(record["thread"]) && Array.isArray(record["thread"]["messages"])) {
    const messages = record["thread"]["messages"].filter((message) => !isPlainMessage(message))
    const shorter = Conversation.safeParse({ ...record, thread: { ...record["thread"], messages } })
    if (shorter.success) return shorter
  }
  return Conversation.safeParse(record)
}

const otherChat = (id: string, record: Conversation): Error | undefined =>
  record.id === id ? undefined : new Error(`it is the record of the chat ${record.id}`)

/** The error of invalid messages, or of calls without a result that will get none. */
const invalidMessages = ({ thread, inbox = [], pendingToolCalls, open }: Conversation): Error | undefined =>
  invalidList(thread.messages) ??
  invalidList(inbox.map(({ message }) => message)) ??
  (open === undefined
    ? unpaired(pendingToolCalls.reduce((settled, { id }) => answered(settled, toolResult(id, "")), thread))
    : invalidOpening({ thread, open }))

/**
 * Ignores unreadable media sources: they fail the turns of a conversation, but it can still be loaded and rewound (MEDIA1).
 */
const invalidList = (messages: ReadonlyArray<Message>): Error | undefined => {
  const others = messages.some((message) => !isPlainMessage(message))
  const found = others ? messagesFindings(messages, ["messages"], () => undefined) : []
  return found.length === 0 ? undefined : new ValidationError("invalid_thread", found)
}

/** The error of an open step that does not fit its message. */
const invalidOpening = (opened: Opened): Error | undefined => {
  const { calls } = opened.open
  const toolCalls = openToolCalls(opened)
  if (toolCalls.length === 0 || toolCalls.length !== calls.length) return new Error("its open step is of no message")
  const results = toolCalls.flatMap(({ id }, position): ReadonlyArray<[number, ToolMessage]> =>
    calls[position]?.state === "done" ? [] : [[position, toolResult(id, "")]]
  )
  return unpaired(withResults(opened, new Map(results)).thread)
}
