/**
 * What conversations wait for: one row for each wait.
 *
 * Owns: the rows of the table `waiting`, and of each conversation the number of its rows (`waits`) and the entry that they are
 * of (`noted`). Does not own the entries, nor the lock of the conversation's row: the caller of a write holds it.
 *
 * WAITROW1. The rows of a conversation are written in the transaction of its entry. An entry of a conversation that neither waited
 *           nor waits has no query for them.
 * WAITROW2. Every row of the list is of the newest entry. An earlier version that uses the database beside this one adds entries
 *           without rows. An index has only these conversations, and their rows are written before the list is read.
 * WAITROW3. A page reads the rows of the page, and the expired ones before it.
 * WAITROW4. A wait is escalated by one program: a program skips the rows that another one is marking.
 */
import { type Conversation, Store } from "@troupe/chat/store"
import type { Dialect, WrittenWait } from "./dialect.ts"
import { itemsQuery, recordOf } from "./entryForm.ts"
import { prefixRange } from "./listing.ts"
import { all, type Addition } from "./migrations.ts"
import {
  type Asking,
  numberIn,
  type Row,
  rowsOf,
  textIn,
  type Value,
  isDistinct,
  readable,
  storedKey
} from "./query.ts"

/** The fields of a wait in the body of its row. */
type Body = Pick<Store.Lists.Wait, "toolCallId" | "tool" | "text" | "options" | "reason" | "agent">

/** Encodes what a record waits for. */
export const writtenWaits = (record: Conversation, now: number): ReadonlyArray<WrittenWait> =>
  Store.Lists.waitsOf(record).map(({ kind, askedAt = now, expiresAt, ...body }) => ({
    call: storedKey(body.toolCallId),
    kind,
    agent: body.agent === undefined ? null : readable(body.agent.name),
    askedAt: Math.floor(askedAt),
    expiresAt: expiresAt === undefined ? null : Math.floor(expiresAt),
    body: JSON.stringify(body satisfies Body)
  }))

/** The part of an id up to its first slash, which on a server is the owner. */
export const partOf = (id: string): string => id.slice(0, id.indexOf("/") + 1)

/** Makes these the waits of a conversation, of which `before` wait. WAITROW1 */
export function* noteWaits(
  dialect: Dialect,
  { chat, id, before }: { readonly chat: number; readonly id: string; readonly before: number },
  waits: ReadonlyArray<WrittenWait>
): Asking<void> {
  if (before === 0 && waits.length === 0) return
  const sql = statements(dialect)
  const kept = new Set(waits.map(({ call }) => call))
  for (const row of before === 0 ? [] : yield* rowsOf(sql.calls, chat)) {
    if (!kept.has(textIn(row, "call"))) yield* rowsOf(sql.remove, numberIn(row, "item"))
  }
  for (const { call, kind, agent, askedAt, expiresAt, body } of waits) {
    yield* rowsOf(sql.put, chat, call, id, partOf(id), kind, agent, askedAt, expiresAt, body)
  }
}

/** The columns of a wait's row that a later entry may change: an update of the same ones writes nothing. */
export const changedWait = (waiting: string): string =>
  `kind = excluded.kind, agent = excluded.agent, expires_at = excluded.expires_at, body = excluded.body
    WHERE (${waiting}.kind, ${waiting}.agent, ${waiting}.expires_at, ${waiting}.body)
      IS DISTINCT FROM (excluded.kind, excluded.agent, excluded.expires_at, excluded.body)`

/** The rows of a page, and one more if there is another page. */
export function* listWaits(
  { prefix }: Dialect,
  { owner, kind, agent, limit, after }: ReturnType<typeof Store.Lists.waitOptions>,
  now: number
): Asking<ReadonlyArray<Row>> {
  // No stored text is equal to such a text.
  if (!isDistinct(owner) || !isDistinct(agent ?? "")) return []
  const conditions: Array<readonly [sql: string, ...params: ReadonlyArray<Value>]> = [
    ["(expires_at IS NULL OR expires_at > ?)", Math.floor(now)]
  ]
  if (after !== undefined) conditions.push(["(asked_at, item) > (?, ?)", after.askedAt, after.item])
  const [part, { from, to }] = [partOf(owner), prefixRange(owner)]
  if (part !== "") conditions.push(["part = ?", part])
  if (owner !== part) conditions.push(["id >= ? AND id < ?", from, to])
  if (kind !== undefined) conditions.push(["kind = ?", kind])
  if (agent !== undefined) conditions.push(["agent = ?", agent])
  const where = conditions.map(([sql]) => sql).join(" AND ")
  return yield* rowsOf(
    `SELECT ${columns} FROM ${prefix}waiting WHERE ${where} ORDER BY asked_at, item LIMIT ?`,
    ...conditions.flatMap(([, ...params]) => params),
    limit + 1
  )
}

const columns = "item, id, kind, asked_at, expires_at, escalated_at, body"

/** Makes a page of rows. */
export const waitPage = (rows: ReadonlyArray<Row>, limit: number): Store.Lists.WaitList => {
  const waits = rows.slice(0, limit).map(waitIn)
  const last = rows[limit - 1]
  if (rows.length <= limit || last === undefined) return { waits }
  return { waits, next: Store.Lists.waitCursor({ askedAt: numberIn(last, "asked_at"), item: numberIn(last, "item") }) }
}

const waitIn = (row: Row): Store.Lists.Wait => ({
  chat: textIn(row, "id"),
  kind: textIn(row, "kind") as Store.Lists.Wait["kind"],
  ...(JSON.parse(textIn(row, "body")) as Body),
  askedAt: numberIn(row, "asked_at"),
  ...(row["expires_at"] === null ? {} : { expiresAt: numberIn(row, "expires_at") }),
  ...(row["escalated_at"] === null ? {} : { escalatedAt: numberIn(row, "escalated_at") })
})

/** Marks the oldest waits that were asked until this time, and returns them. WAITROW4 */
export function* escalateWaits(
  { prefix, claim }: Dialect,
  { askedUntil, limit, now }: { readonly askedUntil: number; readonly limit: number; readonly now: number }
): Asking<ReadonlyArray<Store.Lists.Wait>> {
  const waiting = `${prefix}waiting`
  const due = `SELECT item FROM ${waiting} WHERE escalated_at IS NULL AND asked_at <= ?
    AND (expires_at IS NULL OR expires_at > ?) ORDER BY asked_at, item LIMIT ? ${claim}`
  const rows = yield* rowsOf(
    `UPDATE ${waiting} SET escalated_at = ? WHERE item IN (${due}) RETURNING ${columns}`,
    now,
    askedUntil,
    now,
    limit
  )
  const order = (row: Row, other: Row, column: string) => numberIn(row, column) - numberIn(other, column)
  return rows.toSorted((one, other) => order(one, other, "asked_at") || order(one, other, "item")).map(waitIn)
}

/** Whether there are conversations whose newest entry has no rows yet. The order makes PostgreSQL use the index of WAITROW2. */
export function* areUnnoted({ prefix }: Dialect): Asking<boolean> {
  return (yield* rowsOf(`SELECT key FROM ${prefix}chats WHERE noted < seq ORDER BY key LIMIT 1`)).length > 0
}

/** The number of conversations that are noted together. */
const notedAtOnce = 200

/** Writes the rows of some conversations that an earlier version wrote; returns whether there may be more. WAITROW2 */
export function* noteSome(dialect: Dialect): Asking<boolean> {
  const { prefix, hold } = dialect
  const heads = yield* rowsOf(
    `SELECT key, id, seq, waits, updated_at FROM ${prefix}chats WHERE noted < seq ORDER BY key LIMIT ${notedAtOnce} ${hold}`
  )
  for (const head of heads) {
    const [chat, id, seq] = [numberIn(head, "key"), textIn(head, "id"), numberIn(head, "seq")]
    const record = yield* waitingRecord(dialect, { chat, id, seq })
    const waits = record === undefined ? [] : writtenWaits(record, numberIn(head, "updated_at"))
    yield* noteWaits(dialect, { chat, id, before: numberIn(head, "waits") }, waits)
    yield* rowsOf(`UPDATE ${prefix}chats SET noted = seq, waits = ? WHERE key = ?`, waits.length, chat)
  }
  return heads.length === notedAtOnce
}

/** The parts of an encoded entry that waits. */
const signs = ['"state":"waiting"', '"pendingQuestion":{', '"pendingToolCalls":[{']

/** The record of an entry that may wait; none for a damaged one, whose conversation fails to load. */
function* waitingRecord(
  { prefix }: Dialect,
  { chat, id, seq }: { readonly chat: number; readonly id: string; readonly seq: number }
): Asking<Conversation | undefined> {
  const [entry] = yield* rowsOf(`SELECT body FROM ${prefix}commits WHERE chat = ? AND seq = ?`, chat, seq)
  const body = entry === undefined ? "" : textIn(entry, "body")
  if (!signs.some((sign) => body.includes(sign))) return undefined
  const items = yield* rowsOf(itemsQuery(prefix), chat, seq, seq)
  try {
    return recordOf({ database: "", id }, { body, items })
  } catch {
    return undefined
  }
}

/** Adds the table with the waits of every conversation, and the index of WAITROW2. `item` and `number` are types of columns. */
export const waitTable = (
  dialect: Dialect,
  types: { readonly item: string; readonly number: string; readonly text: string; readonly end: string }
): Addition => ({
  name: "waits",
  apply: function* () {
    const { prefix } = dialect
    const { item, number, text, end } = types
    yield* all([
      `ALTER TABLE ${prefix}chats ADD COLUMN waits ${number} NOT NULL DEFAULT 0`,
      `ALTER TABLE ${prefix}chats ADD COLUMN noted ${number} NOT NULL DEFAULT 0`,
      `CREATE INDEX chats_unnoted ON ${prefix}chats (key) WHERE noted < seq`,
      `CREATE TABLE ${prefix}waiting (item ${item}, chat ${number} NOT NULL REFERENCES ${prefix}chats (key) ON DELETE CASCADE,
        call TEXT NOT NULL, id ${text} NOT NULL, part ${text} NOT NULL, kind TEXT NOT NULL, agent TEXT, asked_at ${number} NOT NULL,
        expires_at ${number}, escalated_at ${number}, body TEXT NOT NULL, UNIQUE (chat, call))${end}`,
      ...["", "part", "kind", "agent"].map(
        (column) =>
          `CREATE INDEX waiting_${column || "all"} ON ${prefix}waiting (${column === "" ? "" : `${column}, `}asked_at, item)`
      ),
      `CREATE INDEX waiting_escalating ON ${prefix}waiting (asked_at, item) WHERE escalated_at IS NULL`
    ])
    while (yield* noteSome(dialect));
  }
})

const statements = ({ prefix }: Dialect) => {
  const waiting = `${prefix}waiting`
  return {
    calls: `SELECT item, call FROM ${waiting} WHERE chat = ?`,
    remove: `DELETE FROM ${waiting} WHERE item = ?`,
    put: `INSERT INTO ${waiting} (chat, call, id, part, kind, agent, asked_at, expires_at, body)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (chat, call) DO UPDATE SET ${changedWait(waiting)}`
  } as const
}
