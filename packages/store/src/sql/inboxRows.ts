/**
 * The waiting inputs of conversations: one row for each.
 *
 * Owns: the rows of the table `inbox`, and how many there are of a conversation (`waiting` of its row). Does not own the
 * entries, nor the lock of the conversation's row: the caller of a write holds it.
 *
 * SQLBOX1. Accepting an input costs that input alone, however many wait.
 * SQLBOX2. Entries of earlier versions have waiting inputs of their own. Those of the newest entry are moved into rows,
 *         ahead of the rows that wait, before anything else reads or changes the rows. After that only the rows count.
 * SQLBOX3. An earlier version that continues from such an entry still decides about the inputs of that entry: its next
 *         entry replaces their rows. The first entry of this version ends that.
 */
import type { Conversation, Store } from "@troupe/chat/store"
import type { Dialect } from "./dialect.ts"
import { type Input, inputOf, type Origin, stateOf, writtenInput } from "./entryForm.ts"
import { type Asking, numberIn, type Row, rowsOf, textIn, storedKey } from "./query.ts"

/** The row of a conversation: the number of its newest entry, and of the last one whose inputs have rows. */
export interface InboxHead {
  readonly key: number
  readonly seq: number
  readonly moved: number
}

/** The result of accepting an input. */
export type Accepted = Awaited<ReturnType<Store.SessionStore["accept"]>>

/** The record of an entry with the inputs that wait now. */
export const withInbox = (record: Conversation, waiting: ReadonlyArray<Input>): Conversation => {
  if (waiting.length > 0) return { ...record, inbox: waiting }
  const { inbox: _, ...rest } = record
  return rest
}

/** The waiting inputs. */
export class InboxRows {
  readonly #sql: ReturnType<typeof statements>

  constructor(dialect: Dialect) {
    this.#sql = statements(dialect)
  }

  /**
   * The waiting inputs after the entry; `undefined` if a newer entry exists. So the record of the entry and
   * the inputs are of the same moment.
   */
  *of({ key, seq }: InboxHead, origin: Origin): Asking<ReadonlyArray<Input> | undefined> {
    const rows = yield* rowsOf(this.#sql.waiting, key, seq)
    if (rows.length === 0) return undefined
    return rows.flatMap((row) => (typeof row["body"] === "string" ? [inputOf(origin, row["body"])] : []))
  }

  /** The title of a conversation without an entry is that of its first input. SQLBOX1 */
  *accept(chat: number, origin: Origin, input: Input, now: number): Asking<Accepted> {
    const [existing] = yield* rowsOf(this.#sql.find, chat, storedKey(input.id))
    if (existing !== undefined) return { input: inputOf(origin, textIn(existing, "body")), isNew: false }
    yield* this.#add(chat, input, yield* rowsOf(this.#sql.accepted, now, chat))
    return { input, isNew: true }
  }

  /** Removes the inputs of these ids, and returns how many waited. The caller subtracts them in the conversation's row. */
  *take(chat: number, ids: ReadonlyArray<string>): Asking<number> {
    let count = 0
    for (const id of ids) count += (yield* rowsOf(this.#sql.take, chat, storedKey(id))).length
    return count
  }

  /** Moves the inputs of the newest entry, which an earlier version wrote; returns how many wait. SQLBOX2, SQLBOX3 */
  *move({ key, seq, moved }: InboxHead, origin: Origin): Asking<number> {
    const [entry] = yield* rowsOf(this.#sql.entry, key, seq)
    const inputs = entry === undefined ? [] : (stateOf(origin, textIn(entry, "body")).inbox ?? [])
    yield* rowsOf(this.#sql.replaced, key, moved)
    const rows = yield* rowsOf(this.#sql.ids, key)
    const waiting = new Set(rows.map((row) => textIn(row, "id")))
    const fresh = inputs.filter(({ id }) => !waiting.has(storedKey(id)))
    const first = rows.length === 0 ? 1 : numberIn(rows[0], "position")
    for (const [index, input] of fresh.entries()) {
      yield* rowsOf(this.#sql.add, key, first - fresh.length + index, storedKey(input.id), seq, writtenInput(input))
    }
    const [now] = yield* rowsOf(this.#sql.moved, key)
    return numberIn(now, "waiting")
  }

  *#add(chat: number, input: Input, [row]: ReadonlyArray<Row>): Asking<void> {
    yield* rowsOf(this.#sql.add, chat, numberIn(row, "arrived"), storedKey(input.id), null, writtenInput(input))
  }
}

/** The number of entries that are read together. */
const together = 200

/** Counts the inputs that wait in the newest entries, which earlier versions wrote. */
export function* countWaiting(prefix: string): Asking<void> {
  const next = `SELECT key, body FROM ${prefix}chats JOIN ${prefix}commits ON chat = key AND ${prefix}commits.seq = ${prefix}chats.seq
    WHERE key > ? AND body LIKE '%"inbox":[{%' ORDER BY key LIMIT ?`
  for (let last = 0, count = together; count === together;) {
    const rows = yield* rowsOf(next, last, together)
    for (const row of rows) {
      const waiting = inputsIn(textIn(row, "body"))
      if (waiting > 0)
        yield* rowsOf(`UPDATE ${prefix}chats SET waiting = ? WHERE key = ?`, waiting, numberIn(row, "key"))
    }
    last = numberIn(rows.at(-1), "key")
    count = rows.length
  }
}

/** None for a damaged entry, whose conversation fails to load. */
const inputsIn = (body: string): number => {
  try {
    return (
      (JSON.parse(body) as { readonly state: { readonly inbox?: ReadonlyArray<unknown> } }).state.inbox?.length ?? 0
    )
  } catch {
    return 0
  }
}

/** `entry` of a row is the entry of an earlier version that the input was moved from. */
const statements = ({ prefix, nextWrite }: Dialect) => {
  const [chats, commits, inbox] = ["chats", "commits", "inbox"].map((table) => prefix + table)
  return {
    waiting: `SELECT ${inbox}.body AS body FROM ${chats} LEFT JOIN ${inbox} ON ${inbox}.chat = ${chats}.key
      WHERE ${chats}.key = ? AND ${chats}.seq = ? ORDER BY ${inbox}.position`,
    find: `SELECT body FROM ${inbox} WHERE chat = ? AND id = ?`,
    ids: `SELECT id, position FROM ${inbox} WHERE chat = ? ORDER BY position`,
    accepted: `UPDATE ${chats} SET arrived = arrived + 1, waiting = waiting + 1, updated_at = ?, written = ${nextWrite}
      WHERE key = ? RETURNING arrived`,
    add: `INSERT INTO ${inbox} (chat, position, id, entry, body) VALUES (?, ?, ?, ?, ?)`,
    take: `DELETE FROM ${inbox} WHERE chat = ? AND id = ? RETURNING position`,
    entry: `SELECT body FROM ${commits} WHERE chat = ? AND seq = ?`,
    replaced: `DELETE FROM ${inbox} WHERE chat = ? AND entry = ?`,
    moved: `UPDATE ${chats} SET moved = seq, waiting = (SELECT count(*) FROM ${inbox} WHERE chat = ${chats}.key) WHERE key = ?
      RETURNING waiting`
  } as const
}
