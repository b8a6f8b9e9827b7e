/**
 * The log of conversations in tables.
 *
 * Owns: the mapping of entries to rows. Does not own the database, its transactions or its connection: every verb is a
 * generator of queries ({@link Asking}), and a verb that writes runs in one transaction.
 *
 * The items of a list (messages, known ids) each have a row with the first entry whose list contains the item, and the
 * first whose list does not. The record of any entry is a selection of rows; nothing is replayed.
 *
 * SQLLOG1. An entry costs the items it adds: an item that stays is neither written nor read again.
 * SQLLOG3. A refused verb writes nothing.
 * SQLLOG4. A writer locks the row of its conversation from the check of the precondition to the end of its transaction.
 */
import { type Conversation, Store } from "@troupe/chat/store"
import type { Clock } from "@troupe/otp"
import { BlobRows } from "./blobRows.ts"
import { type Dialect, type EntrySave, lists } from "./dialect.ts"
import { type Input, stateOf, written } from "./entryForm.ts"
import { Fences } from "./fences.ts"
import { type Accepted, InboxRows, withInbox } from "./inboxRows.ts"
import { type Head, headIn, isConversation, LogReads } from "./logReads.ts"
import { type Asking, numberIn, rowsOf, textIn, checkedId, readable, storedKey } from "./query.ts"
import { noteWaits, writtenWaits } from "./waitRows.ts"

/** The fields of an entry besides its record. */
interface Entry {
  readonly kind: Store.Commit["kind"]
  readonly from?: Store.Commit["from"]
  /** How many waiting inputs leave with the entry. */
  readonly taken?: number
}

/** The number of expired conversations, and the key to continue after. */
export interface Expired {
  readonly count: number
  readonly next: number | undefined
}

/** The number of conversations that are deleted together. */
const atOnce = 20

/** The record of an entry, and the key of its conversation. */
export interface Standing {
  readonly key: number
  readonly record: Conversation
}

/** The options of the log besides its dialect. */
export interface LogOptions {
  /** Names the database in errors. */
  readonly database: string
  /** The clock of dates and of the time to live. */
  readonly clock: Clock.Clock
  /** The keys of the conversations of the records that this program has read or written, once that is committed. */
  readonly keys: WeakMap<Conversation, number>
}

export class Log {
  readonly #dialect: Dialect
  readonly #clock: Clock.Clock
  readonly #keys: WeakMap<Conversation, number>
  readonly #inbox: InboxRows
  /** The verbs that only read. */
  readonly reads: LogReads
  readonly #fences: Fences
  /** The blobs. Only `putBlob` adds one. */
  readonly blobs: BlobRows
  readonly #sql: ReturnType<typeof statements>

  constructor(dialect: Dialect, { database, clock, keys }: LogOptions) {
    this.#dialect = dialect
    this.#clock = clock
    this.#keys = keys
    this.#inbox = new InboxRows(dialect)
    this.reads = new LogReads(dialect, { database, inbox: this.#inbox })
    this.#fences = new Fences(dialect)
    this.blobs = new BlobRows(dialect)
    this.#sql = statements(dialect)
  }

  /** SQLBOX2 */
  *move(id: string): Asking<void> {
    yield* this.#held(id)
  }

  *claim(keys: ReadonlyArray<string>, epoch: number): Asking<void> {
    yield* this.#fences.claim(keys, epoch)
  }

  *accept(id: string, input: Input, fence: Store.Fence | undefined): Asking<Accepted> {
    yield* this.#fences.check(fence)
    const now = Math.floor(this.#clock.now())
    for (;;) {
      const head = yield* this.#held(id)
      if (head !== undefined && !isConversation(head)) {
        yield* rowsOf(this.#sql.entitle, titleOf(id, [input.message], now), now, head.key)
      }
      const key = head?.key ?? (yield* this.#begin(id, [input.message], now))
      if (key !== undefined) return yield* this.#inbox.accept(key, this.reads.origin(id), input, now)
    }
  }

  /** BLOB2, BLOB4 */
  *putBlob(id: string, blob: string, bytes: Uint8Array, fence: Store.Fence | undefined): Asking<void> {
    yield* this.#fences.check(fence)
    const now = Math.floor(this.#clock.now())
    for (;;) {
      const key = (yield* this.#held(id))?.key ?? (yield* this.#begin(id, [], now))
      if (key !== undefined) return yield* this.blobs.put(key, { id: blob, bytes, now })
    }
  }

  /** BLOB5 */
  *collectBlobs(id: string): Asking<void> {
    const head = yield* this.#held(id)
    if (head !== undefined) yield* this.blobs.collect(head.key, Math.floor(this.#clock.now()))
  }

  /** A row without an entry; `undefined` when another program created it meanwhile. */
  *#begin(id: string, messages: Conversation["thread"]["messages"], now: number): Asking<number | undefined> {
    const summary = [0, null, titleOf(id, messages, now), 0, 0, now, 0] as const
    const [row] = yield* rowsOf(this.#sql.begin, ...summary, 0, 0, now, checkedId(id), Store.bucketOf(id))
    return row === undefined ? undefined : numberIn(row, "key")
  }

  /**
   * Appends with one statement; `undefined` if nothing was written. Then `append` writes or refuses it.
   */
  *appendAtOnce(
    id: string,
    entries: ReadonlyArray<Store.Entry>,
    { after, record: before, ...appending }: Store.Appending
  ): Asking<Standing | undefined> {
    const { saveAtOnce } = this.#dialect
    const knownKey = before && this.#keys.get(before)
    if (saveAtOnce === undefined || after === undefined || (after > 0 && knownKey === undefined)) return undefined
    const { record, change } = Store.commitOf(before ?? Store.blank(id), entries)
    const now = Math.floor(this.#clock.now())
    const key = yield* saveAtOnce(entrySaveOf(record, change, { ...appending, after, now, knownKey }))
    return key === undefined ? undefined : { key, record: { ...record, version: after + 1 } }
  }

  *append(id: string, entries: ReadonlyArray<Store.Entry>, appending: Store.Appending): Asking<Standing> {
    yield* this.#fences.check(appending.fence)
    const { after, record, takes = [] } = appending
    for (;;) {
      const head = yield* this.#held(id)
      check(id, head, after)
      this.#checkConversation(record, head)
      const taken = head === undefined ? 0 : yield* this.#inbox.take(head.key, takes)
      if (entries.length === 0 && after === undefined) {
        if (head !== undefined && taken > 0) yield* rowsOf(this.#sql.taken, taken, head.key)
        return { key: head?.key ?? -1, record: Store.blank(id) }
      }
      const isKnown = record !== undefined && (record.version ?? 0) === (head?.seq ?? 0)
      const before =
        head === undefined || head.seq === 0
          ? Store.blank(id)
          : isKnown && this.#keys.get(record) === head.key
            ? record
            : yield* this.reads.record(id, head, head.seq)
      if (before === undefined) continue
      const saved = yield* this.#add(head, before, entries, { kind: "saved", taken })
      if (saved !== undefined) return saved
    }
  }

  *delete(id: string, fence: Store.Fence | undefined): Asking<void> {
    yield* this.#fences.check(fence)
    yield* rowsOf(this.#sql.delete, checkedId(id))
  }

  *fork(id: string, to: string, at: number | undefined, fence: Store.Fence | undefined): Asking<Standing> {
    yield* this.#fences.check(fence)
    const head = yield* this.reads.head(id)
    if (head === undefined) throw Store.refused("unknown_chat", id)
    const seq = yield* this.reads.step(id, head, at)
    const record = yield* this.reads.record(id, head, seq)
    if (record === undefined) throw Store.refused("unknown_chat", id)
    const entry = { kind: "forked", from: { id, seq } } as const
    // When the newest entry is lost, the rest of the conversation can still be forked.
    const newest = seq === head.seq ? undefined : yield* this.reads.body(head, head.seq)
    const now = newest === undefined ? record : stateOf(this.reads.origin(id), newest)
    const existing = yield* this.#held(to)
    const begun = Store.forked(record, to, now)
    const isFree = existing === undefined || !isConversation(existing)
    const forked = isFree ? yield* this.#add(existing, Store.blank(to), [Store.saved(begun)], entry) : undefined
    if (forked === undefined) throw Store.refused("chat_exists", to)
    yield* this.blobs.copy(head.key, forked.key)
    return forked
  }

  *rewind(id: string, seq: number, { after, fence }: Pick<Store.Appending, "after" | "fence">): Asking<Standing> {
    yield* this.#fences.check(fence)
    const head = yield* this.#held(id)
    if (head === undefined || !isConversation(head)) throw Store.refused("unknown_chat", id)
    check(id, head, after)
    const newest = head.seq === 0 ? Store.blank(id) : yield* this.reads.record(id, head, head.seq)
    const earlier =
      seq === 0 ? Store.blank(id) : yield* this.reads.record(id, head, yield* this.reads.step(id, head, seq))
    if (newest === undefined || earlier === undefined) throw Store.refused("unknown_chat", id)
    const entry = { kind: "rewound", from: { id, seq } } as const
    const replaced = Store.replacing(newest, Store.forked(earlier, id, newest))
    const rewound = yield* this.#add(head, newest, [replaced], entry)
    if (rewound === undefined) throw Store.refused("unknown_chat", id)
    const { key, record } = rewound
    const waiting = yield* this.#inbox.of({ ...head, seq: head.seq + 1 }, this.reads.origin(id))
    return { key, record: withInbox(record, waiting ?? []) }
  }

  *keepDraft(id: string, text: string, after: number, fence: Store.Fence | undefined): Asking<void> {
    yield* this.#fences.check(fence)
    yield* rowsOf(this.#sql.keepDraft, JSON.stringify(text), checkedId(id), after)
  }

  /**
   * Deletes a portion of those without an entry since `end`, after the key `after`. Returns the key to continue after, if
   * there may be more.
   */
  expire(end: number, isKept: (id: string) => boolean, after: number): Asking<Expired> {
    return expired(this.#sql, { end, isKept, after })
  }

  /** SQLLOG4, SQLBOX2 */
  *#held(id: string): Asking<Head | undefined> {
    const [row] = yield* rowsOf(this.#sql.held, checkedId(id))
    const head = headIn(row)
    if (head === undefined || head.moved >= head.seq) return head
    return { ...head, moved: head.seq, waiting: yield* this.#inbox.move(head, this.reads.origin(id)) }
  }

  /** A record of a conversation that was deleted is followed by no entry of the next one of its id. */
  #checkConversation(record: Conversation | undefined, head: Head | undefined): void {
    const key = record && this.#keys.get(record)
    if (record !== undefined && key !== undefined && key !== head?.key)
      throw Store.refused("store_conflict", record.id, head?.seq)
  }

  /** Adds an entry; `undefined` when another program created the conversation meanwhile. */
  *#add(
    head: Head | undefined,
    before: Conversation,
    entries: ReadonlyArray<Store.Entry>,
    { kind, from, taken = 0 }: Entry
  ): Asking<Standing | undefined> {
    const sql = this.#sql
    const now = Math.floor(this.#clock.now())
    const isFirst = head === undefined || head.seq === 0
    const seq = (head?.seq ?? 0) + 1
    const { record, change } = Store.commitOf(before, entries)
    const entry = { seq, at: now, kind, ...change }
    const { body, messages, known } = written(from === undefined ? entry : { ...entry, from })
    const newest = { ...record, version: seq }
    const { title, messages: count, running } = Store.Lists.summaryOf(newest, { createdAt: now, updatedAt: now })
    const summary = [seq, null, readable(title), count, running ? 1 : 0, now] as const
    const waits = writtenWaits(newest, now)
    const [row] =
      head === undefined
        ? yield* rowsOf(
            sql.begin,
            ...summary,
            seq,
            seq,
            waits.length,
            now,
            checkedId(record.id),
            Store.bucketOf(record.id)
          )
        : yield* rowsOf(sql.goOn, ...summary, waits.length, taken, head.key)
    if (row === undefined) return undefined
    const chat = numberIn(row, "key")
    yield* noteWaits(this.#dialect, { chat, id: record.id, before: head?.waits ?? 0 }, waits)
    const knownKept = change.known?.kept ?? 0
    if (!isFirst && change.kept < head.messages) {
      yield* rowsOf(sql.supersede, seq, chat, lists.messages, change.kept)
    }
    if (!isFirst && knownKept < (before.known?.length ?? 0))
      yield* rowsOf(sql.supersede, seq, chat, lists.known, knownKept)
    yield* rowsOf(sql.addEntry, chat, seq, change.isStep ? 1 : 0, body)
    const item = { chat, seq }
    const saved = { ...item, list: lists.messages, from: change.kept, bodies: messages, messages: change.messages }
    yield* this.#dialect.addItems(saved)
    yield* this.#dialect.addItems({ ...item, list: lists.known, from: knownKept, bodies: known, messages: [] })
    return { key: chat, record: newest }
  }
}

/** The title of a conversation that begins with these messages. */
const titleOf = (id: string, messages: Conversation["thread"]["messages"], now: number): string => {
  const begun = { ...Store.blank(id), thread: { messages } }
  return readable(Store.Lists.summaryOf(begun, { createdAt: now, updatedAt: now }).title)
}

/** What a write with one statement has beside its record. */
type AtOnce = Pick<Store.Appending, "takes" | "fence"> & Pick<EntrySave, "after" | "now" | "knownKey">

/** The entry of a write with one statement. */
const entrySaveOf = (
  record: Conversation,
  change: ReturnType<typeof Store.commitOf>["change"],
  { after, takes = [], fence, now, knownKey }: AtOnce
): EntrySave => {
  const { title, messages: count, running } = Store.Lists.summaryOf(record, { createdAt: now, updatedAt: now })
  return {
    ...written({ seq: after + 1, at: now, kind: "saved", ...change }),
    id: checkedId(record.id),
    bucket: after === 0 ? Store.bucketOf(record.id) : null,
    after,
    knownKey,
    fence: fence === undefined ? undefined : { ...fence, key: storedKey(fence.key) },
    title: readable(title),
    count,
    running: running ? 1 : 0,
    now,
    isStep: change.isStep ? 1 : 0,
    kept: change.kept,
    knownKept: change.known?.kept ?? 0,
    said: change.messages,
    takes: takes.map(storedKey),
    waits: writtenWaits(record, now)
  }
}

/** The end of the time of expired conversations, those that are kept, and the key to continue after. */
interface Expiry {
  readonly end: number
  readonly isKept: (id: string) => boolean
  readonly after: number
}

function* expired(sql: ReturnType<typeof statements>, { end, isKept, after }: Expiry): Asking<Expired> {
  const over = yield* rowsOf(sql.over, end, after, atOnce)
  let count = 0
  for (const row of over) {
    const id = textIn(row, "id")
    if (isKept(id)) continue
    // The conversation may have been written since the query.
    const deleted = yield* rowsOf(sql.deleteOver, id, end)
    count += deleted.length
  }
  return { count, next: over.length < atOnce ? undefined : numberIn(over.at(-1), "key") }
}

const check = (id: string, head: Head | undefined, after: number | undefined): void => {
  const newest = head?.seq ?? 0
  if (after !== undefined && newest !== after) throw Store.refused("store_conflict", id, newest)
}

/** The queries of the verbs that write. */
const statements = ({ prefix, hold, nextWrite }: Dialect) => {
  const [chats, commits, items, drafts] = ["chats", "commits", "items", "drafts"].map((table) => prefix + table)
  return {
    held: `SELECT key, seq, writer, moved, waiting, messages, waits FROM ${chats} WHERE id = ? ${hold}`,
    begin: `INSERT INTO ${chats} (seq, writer, title, messages, running, updated_at, moved, noted, waits, created_at, id,
      bucket, written) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ${nextWrite}) ON CONFLICT (id) DO NOTHING RETURNING key`,
    entitle: `UPDATE ${chats} SET title = ?, created_at = ? WHERE key = ?`,
    goOn: `UPDATE ${chats} SET seq = ?, writer = ?, title = ?, messages = ?, running = ?, updated_at = ?,
      moved = seq + 1, noted = seq + 1, waits = ?, waiting = waiting - ?, written = ${nextWrite} WHERE key = ? RETURNING key`,
    supersede: `UPDATE ${items} SET until = ? WHERE chat = ? AND list = ? AND position >= ? AND until IS NULL`,
    addEntry: `INSERT INTO ${commits} (chat, seq, is_step, body) VALUES (?, ?, ?, ?)`,
    delete: `DELETE FROM ${chats} WHERE id = ?`,
    keepDraft: `INSERT INTO ${drafts} (chat, seq, body) SELECT key, seq, ? FROM ${chats} WHERE id = ? AND seq = ?
      ON CONFLICT (chat) DO UPDATE SET seq = excluded.seq, body = excluded.body`,
    over: `SELECT key, id FROM ${chats} WHERE updated_at < ? AND key > ? ORDER BY key LIMIT ?`,
    taken: `UPDATE ${chats} SET waiting = waiting - ? WHERE key = ?`,
    deleteOver: `DELETE FROM ${chats} WHERE id = ? AND updated_at < ? RETURNING key`
  } as const
}
