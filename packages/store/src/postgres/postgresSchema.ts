/** The tables in PostgreSQL, version by version, and the SQL of PostgreSQL. */
import type { Message } from "@troupe/chat/messages"
import { Store } from "@troupe/chat/store"
import { saveAtOnce } from "./postgresSave.ts"
import { anyOf, indexSome, searchQuery, searchTable } from "./postgresSearch.ts"
import {
  type AddedItems,
  type Addition,
  all,
  type Asking,
  bucketColumn,
  countWaiting,
  type Dialect,
  lists,
  type Migration,
  numberIn,
  type Query,
  readable,
  rowsOf,
  searchedText,
  textIn,
  blobTable,
  waitingBlobTable,
  memoryTable,
  secretTable,
  waitTable
} from "../sql/index.ts"

/** The SQL of PostgreSQL, for tables in this schema. */
export const postgresDialect = (schema: string): Dialect => {
  const prefix = `"${schema}".`
  const atOnce = saveAtOnce(prefix)
  const addItems = `INSERT INTO ${prefix}items (chat, list, position, seq, body, words)
    SELECT ?::bigint, ?::integer, ?::integer + place - 1, ?::bigint, body, nullif(words, '')
    FROM unnest(?::text[], ?::text[]) WITH ORDINALITY AS added (body, words, place)`
  const havingOf = `SELECT DISTINCT chat FROM ${prefix}items
    WHERE chat = ANY(?::text[]::bigint[]) AND list = ${lists.messages} AND until IS NULL AND words LIKE ?`
  return {
    prefix,
    hold: "FOR UPDATE",
    share: "FOR SHARE",
    claim: "FOR UPDATE SKIP LOCKED",
    alone: `SELECT pg_advisory_xact_lock(hashtextextended('troupe memories ${schema.replaceAll("'", "''")} ' || ?, 0))`,
    nextWrite: `nextval('${prefix}writes')`,
    pairs: (pairs) => ({
      sql: "(SELECT name, number::bigint FROM unnest(?::text[], ?::text[]) AS given (name, number)) AS pairs",
      params: [pairs.map(([name]) => name), pairs.map(([, number]) => String(number))]
    }),
    among: (column, numbers) => ({ sql: `${column} = ANY (?::text[]::integer[])`, params: [numbers.map(String)] }),
    saveAtOnce: (save) => atOnce(save, save.said.map(wordsOf)),
    addItems: function* ({ chat, seq, list, from, bodies, messages }: AddedItems): Asking<void> {
      if (bodies.length === 0) return
      const words = bodies.map((_, index) => wordsOf(messages[index]))
      yield* rowsOf(addItems, chat, list, from, seq, bodies, words)
    },
    having: (search: string): Query => ({
      sql: `key IN (SELECT chat FROM ${prefix}items WHERE list = ${lists.messages} AND until IS NULL AND words LIKE ?)`,
      params: [likeOf(search)]
    }),
    search: (search) => searchQuery(prefix, search),
    index: indexSome(prefix),
    recall: ({ scope, stems, limit }) => ({
      sql: `SELECT id, text, at FROM ${prefix}memories, to_tsquery('simple', ?) AS query
        WHERE scope = ? AND text IS NOT NULL AND to_tsvector('simple', text) @@ query
        ORDER BY ts_rank(to_tsvector('simple', text), query, 1) DESC, item DESC LIMIT ?`,
      params: [anyOf(stems), scope, limit]
    }),
    havingOf: function* (keys: ReadonlyArray<number>, search: string): Asking<ReadonlySet<number>> {
      const rows = yield* rowsOf(havingOf, keys.map(String), likeOf(search))
      return new Set(rows.map((row) => numberIn(row, "chat")))
    }
  }
}

const likeOf = (search: string): string => `%${readable(search).replaceAll(/[\\%_]/g, String.raw`\$&`)}%`

const wordsOf = (message: Message.Message | undefined): string =>
  message === undefined ? "" : readable(Store.Lists.searched(message))

/** The table of applied versions. */
export const postgresBasis = (prefix: string): string => `CREATE TABLE IF NOT EXISTS ${prefix}migrations
  (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL)`

/** The table of applied additions. */
export const postgresAdditionsBasis = (prefix: string): string => `CREATE TABLE IF NOT EXISTS ${prefix}additions
  (name TEXT PRIMARY KEY, applied_at BIGINT NOT NULL)`

const log = (prefix: string): Migration => ({
  version: 1,
  name: "the log",
  apply: () =>
    all([
      `CREATE SEQUENCE ${prefix}writes`,
      `CREATE TABLE ${prefix}chats (key BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id TEXT NOT NULL UNIQUE,
        seq BIGINT NOT NULL, writer TEXT, written BIGINT NOT NULL UNIQUE, title TEXT NOT NULL, messages INTEGER NOT NULL,
        running INTEGER NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL)`,
      `CREATE INDEX chats_updated_at ON ${prefix}chats (updated_at)`,
      `CREATE TABLE ${prefix}commits (chat BIGINT NOT NULL REFERENCES ${prefix}chats (key) ON DELETE CASCADE,
        seq BIGINT NOT NULL, is_step INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (chat, seq))`,
      `CREATE TABLE ${prefix}items (item BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        chat BIGINT NOT NULL REFERENCES ${prefix}chats (key) ON DELETE CASCADE, list INTEGER NOT NULL,
        position INTEGER NOT NULL, seq BIGINT NOT NULL, until BIGINT, body TEXT NOT NULL,
        UNIQUE (chat, list, position, seq))`,
      `CREATE TABLE ${prefix}drafts (chat BIGINT PRIMARY KEY REFERENCES ${prefix}chats (key) ON DELETE CASCADE,
        seq BIGINT NOT NULL, body TEXT NOT NULL)`
    ])
})

const search = (prefix: string): Migration => ({
  version: 2,
  name: "the search",
  apply: function* () {
    yield* rowsOf(`ALTER TABLE ${prefix}items ADD COLUMN words TEXT`)
    yield* findAnew(prefix, "")
  }
})

/** Recomputes the searchable text of the messages whose body contains this text. */
function* findAnew(prefix: string, text: string): Asking<void> {
  const next = `SELECT item, body FROM ${prefix}items
    WHERE list = ? AND item > ? AND strpos(body, ?) > 0 ORDER BY item LIMIT ?`
  for (let last = 0, count = page; count === page;) {
    const rows = yield* rowsOf(next, lists.messages, last, text, page)
    const items = rows.map((row) => textIn(row, "item"))
    const words = rows.map((row) => readable(searchedText(textIn(row, "body"))))
    yield* rowsOf(
      `UPDATE ${prefix}items AS old SET words = nullif(new.words, '')
        FROM unnest(?::text[], ?::text[]) AS new (item, words) WHERE old.item = new.item::bigint`,
      items,
      words
    )
    last = numberIn(rows.at(-1), "item")
    count = rows.length
  }
}

/** The number of messages that are updated together. */
const page = 500

/**
 * Puts the index of ids in byte order, whatever the order of the database is, so that a prefix is a range of it. Removes
 * the texts of errors from the search.
 */
const byteOrder = (prefix: string): Migration => ({
  version: 3,
  name: "ids in the order of their bytes, no errors in the search",
  apply: function* () {
    yield* rowsOf(`ALTER TABLE ${prefix}chats ALTER COLUMN id TYPE TEXT COLLATE "C"`)
    yield* findAnew(prefix, '"outcome":"failed"')
  }
})

const inbox = (prefix: string): Addition => ({
  name: "waiting inputs",
  apply: function* () {
    yield* all([
      `ALTER TABLE ${prefix}chats ADD COLUMN waiting BIGINT NOT NULL DEFAULT 0,
        ADD COLUMN arrived BIGINT NOT NULL DEFAULT 0, ADD COLUMN moved BIGINT NOT NULL DEFAULT 0`,
      `CREATE INDEX chats_running ON ${prefix}chats (written) WHERE running = 1 OR waiting > 0`,
      `CREATE INDEX chats_running_ids ON ${prefix}chats (id) WHERE running = 1 OR waiting > 0`,
      `CREATE TABLE ${prefix}inbox (chat BIGINT NOT NULL REFERENCES ${prefix}chats (key) ON DELETE CASCADE,
        position BIGINT NOT NULL, id TEXT NOT NULL, entry BIGINT, body TEXT NOT NULL, PRIMARY KEY (chat, position),
        UNIQUE (chat, id))`
    ])
    yield* countWaiting(prefix)
  }
})

const fences = (prefix: string): Addition => ({
  name: "fences",
  apply: () => all([`CREATE TABLE ${prefix}fences (key TEXT PRIMARY KEY, epoch BIGINT NOT NULL)`])
})

/** All additions, in order. */
export const postgresAdditions = (schema: string): ReadonlyArray<Addition> => {
  const dialect = postgresDialect(schema)
  const item = "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
  return [
    inbox(dialect.prefix),
    fences(dialect.prefix),
    bucketColumn(dialect),
    waitTable(dialect, { item, number: "BIGINT", text: 'TEXT COLLATE "C"', end: "" }),
    blobTable(dialect, { number: "BIGINT", bytes: "BYTEA", end: "" }),
    waitingBlobTable(dialect, { number: "BIGINT", end: "" }),
    memoryTable(dialect, { item, number: "BIGINT", end: "" }),
    searchTable(dialect.prefix),
    secretTable(dialect, "")
  ]
}

/** All migrations, in order. */
export const postgresMigrations = (prefix: string): ReadonlyArray<Migration> => [
  log(prefix),
  search(prefix),
  byteOrder(prefix)
]
