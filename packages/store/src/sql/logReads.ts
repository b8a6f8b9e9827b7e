/**
 * The reads of the log, without a lock.
 *
 * Owns: nothing. Each verb is a generator of queries, as in `log.ts`, whose laws hold here too.
 *
 * SQLLOG2. Loading a record costs the items that its conversation has rows for, not the entries: one entry is read.
 * SQLLOG5. A read returns an entry as a whole or none, whatever another program does between two queries. Entries are
 *          queried after their items, and are present only if all those were.
 * SQLLOG6. A missing entry of an existing conversation was lost: the verb fails, and nothing is started or written in its
 *          place.
 */
import { type Conversation, Store } from "@troupe/chat/store"
import type { Dialect } from "./dialect.ts"
import {
  commitOf,
  damaged,
  draftOf,
  type Input,
  itemsQuery,
  type Origin,
  type ReadEntry,
  recordOf,
  stateOf
} from "./entryForm.ts"
import type { InboxRows } from "./inboxRows.ts"
import { type Asking, maybeTextIn, numberIn, type Row, rowsOf, textIn, checkedId } from "./query.ts"

/** The row of a conversation. */
export interface Head {
  readonly key: number
  readonly seq: number
  readonly writer: string | undefined
  /** The last entry whose waiting inputs have rows (SQLBOX2). */
  readonly moved: number
  /** How many inputs wait, and how many messages the newest entry has. */
  readonly waiting: number
  readonly messages: number
  /** How many rows the waits of the conversation have. */
  readonly waits: number
}

/** The newest entry of a conversation as its rows, if it has one, its waiting inputs, and the text of the streaming reply. */
export interface Loaded {
  readonly key: number
  readonly origin: Origin
  readonly entry: ReadEntry | undefined
  readonly waiting: ReadonlyArray<Input>
  readonly draft: string | undefined
  /** Whether blobs have waited for their message for too long (BLOB5). */
  readonly hasForgotten: boolean
}

/** The page of a history. */
type Page = ReturnType<typeof Store.Lists.historyOptions>

export const headIn = (row: Row | undefined): Head | undefined =>
  row === undefined
    ? undefined
    : {
        key: numberIn(row, "key"),
        seq: numberIn(row, "seq"),
        writer: maybeTextIn(row, "writer"),
        moved: numberIn(row, "moved"),
        waiting: numberIn(row, "waiting"),
        messages: numberIn(row, "messages"),
        waits: numberIn(row, "waits")
      }

/** Whether a row has more than blobs (BLOB2). */
export const isConversation = ({ seq, waiting }: Pick<Head, "seq" | "waiting">): boolean => seq > 0 || waiting > 0

/** The reads. The errors name the database by `database`. */
export class LogReads {
  readonly #database: string
  readonly #inbox: InboxRows
  readonly #sql: ReturnType<typeof statements>

  constructor(dialect: Dialect, { database, inbox }: { readonly database: string; readonly inbox: InboxRows }) {
    this.#database = database
    this.#inbox = inbox
    this.#sql = statements(dialect)
  }

  /**
   * The newest entry with the waiting inputs, and the text of the reply that was stored since; `"unmoved"` if an earlier
   * version wrote the newest entry, with inputs that have no rows yet (SQLBOX2).
   */
  *load(id: string, forgottenBefore: number): Asking<Loaded | "unmoved" | undefined> {
    const origin = this.origin(id)
    for (;;) {
      const head = yield* this.#row(id)
      if (head === undefined) return undefined
      const { key, seq, moved } = head
      const entry = seq === 0 ? undefined : yield* this.#entry(id, head, seq)
      if (seq > 0 && entry === undefined) return undefined
      if (entry !== undefined && moved < seq && stateOf(origin, entry.body).inbox !== undefined) return "unmoved"
      const waiting = yield* this.#inbox.of(head, origin)
      if (waiting === undefined) continue
      const [row] = yield* rowsOf(this.#sql.draft, key, seq, key, forgottenBefore)
      const text = maybeTextIn(row, "body")
      const draft = text === undefined ? undefined : draftOf(origin, text)
      return { key, origin, entry, waiting, draft, hasForgotten: numberIn(row, "forgotten") > 0 }
    }
  }

  /** SQLLOG5, SQLLOG6 */
  *history(id: string, { after, limit }: Page): Asking<ReadonlyArray<Store.Commit>> {
    const head = yield* this.head(id)
    if (head === undefined) return []
    const last = Math.min(after + limit, head.seq)
    const items = yield* rowsOf(this.#sql.added, head.key, after, last)
    const entries = yield* rowsOf(this.#sql.entries, head.key, after, last)
    if (entries.length < last - after) {
      if (entries.length > 0 || (yield* this.#isThere(id, head))) throw damaged(this.origin(id))
      return []
    }
    const itemsOf = Map.groupBy(items, (item) => numberIn(item, "seq"))
    return entries.map((row) =>
      commitOf(this.origin(id), { body: textIn(row, "body"), items: itemsOf.get(numberIn(row, "seq")) ?? [] })
    )
  }

  *at(id: string, seq: number): Asking<Conversation | undefined> {
    const head = yield* this.head(id)
    return head !== undefined && isEntry(head, seq) ? yield* this.record(id, head, seq) : undefined
  }

  /** The row of a conversation. BLOB2 */
  *head(id: string): Asking<Head | undefined> {
    const head = yield* this.#row(id)
    return head !== undefined && isConversation(head) ? head : undefined
  }

  *#row(id: string): Asking<Head | undefined> {
    const [row] = yield* rowsOf(this.#sql.head, checkedId(id))
    return headIn(row)
  }

  origin(id: string): Origin {
    return { database: this.#database, id }
  }

  /** Whether the conversation still exists: it may have been deleted and created again. */
  *#isThere(id: string, { key }: Head): Asking<boolean> {
    return (yield* this.head(id))?.key === key
  }

  /** The body of an entry, if it is there. */
  *body({ key }: Head, seq: number): Asking<string | undefined> {
    const [row] = yield* rowsOf(this.#sql.entry, key, seq)
    return row === undefined ? undefined : textIn(row, "body")
  }

  /** The record of an entry; `undefined` when its conversation was deleted meanwhile. */
  *record(id: string, head: Head, seq: number): Asking<Conversation | undefined> {
    const entry = yield* this.#entry(id, head, seq)
    return entry === undefined ? undefined : recordOf(this.origin(id), entry)
  }

  /** The rows of an entry, with complete lists. SQLLOG2, SQLLOG5, SQLLOG6 */
  *#entry(id: string, head: Head, seq: number): Asking<ReadEntry | undefined> {
    const items = yield* rowsOf(this.#sql.items, head.key, seq, seq)
    const [entry] = yield* rowsOf(this.#sql.entry, head.key, seq)
    if (entry !== undefined) return { body: textIn(entry, "body"), items }
    if (yield* this.#isThere(id, head)) throw damaged(this.origin(id))
    return undefined
  }

  /** The target entry of a fork or a rewind. SQLLOG6 */
  *step(id: string, head: Head, at: number | undefined): Asking<number> {
    if (at !== undefined && !isEntry(head, at)) throw Store.refused("unknown_commit", id, at)
    const { newestStep, entry } = this.#sql
    const [found] = yield* at === undefined ? rowsOf(newestStep, head.key) : rowsOf(entry, head.key, at)
    if (found === undefined) {
      if (!(yield* this.#isThere(id, head))) throw Store.refused("unknown_chat", id)
      throw at === undefined ? Store.refused("not_a_step", id) : damaged(this.origin(id))
    }
    if (numberIn(found, "is_step") !== 1) throw Store.refused("not_a_step", id, at)
    return numberIn(found, "seq")
  }
}

const isEntry = ({ seq }: Head, number: number): boolean => Number.isSafeInteger(number) && number > 0 && number <= seq

/** The queries. The parameters of `seq <= ?` and `until > ?` are the entry whose list is selected. */
const statements = ({ prefix }: Dialect) => {
  const [chats, commits, items, drafts, blobs] = ["chats", "commits", "items", "drafts", "waiting_blobs"].map(
    (table) => prefix + table
  )
  return {
    head: `SELECT key, seq, writer, moved, waiting, messages, waits FROM ${chats} WHERE id = ?`,
    entry: `SELECT seq, body, is_step FROM ${commits} WHERE chat = ? AND seq = ?`,
    newestStep: `SELECT seq, is_step FROM ${commits} WHERE chat = ? AND is_step = 1 ORDER BY seq DESC LIMIT 1`,
    items: itemsQuery(prefix),
    entries: `SELECT seq, body FROM ${commits} WHERE chat = ? AND seq > ? AND seq <= ? ORDER BY seq`,
    added: `SELECT seq, list, position, body FROM ${items} WHERE chat = ? AND seq > ? AND seq <= ? ORDER BY list, position`,
    draft: `SELECT (SELECT body FROM ${drafts} WHERE chat = ? AND seq = ?) AS body,
      (SELECT count(*) FROM ${blobs} WHERE chat = ? AND stored_at < ?) AS forgotten`
  } as const
}
