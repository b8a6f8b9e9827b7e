/** The tables in SQLite, version by version, and the SQL of SQLite. */
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
  rowsOf,
  searchedText,
  textIn,
  blobTable,
  waitingBlobTable,
  memoryTable,
  secretTable,
  waitTable
} from "../sql/index.ts"

const addItem = "INSERT INTO items (chat, list, position, seq, body) VALUES (?, ?, ?, ?, ?)"

function* addItems({ chat, seq, list, from, bodies }: AddedItems): Asking<void> {
  for (const [place, body] of bodies.entries()) yield* rowsOf(addItem, chat, list, from + place, seq, body)
}

/** The number of messages that are indexed together, which takes some milliseconds. */
const together = 200

/**
 * Indexes some of the messages since the last search. Saves do not index: indexing is cheap in bulk, and expensive message
 * by message.
 */
function* index(): Asking<boolean> {
  const rows = yield* rowsOf(
    `SELECT item, body FROM items WHERE item > (SELECT item FROM indexed) AND list = ${lists.messages} AND until IS NULL
      ORDER BY item LIMIT ${together}`
  )
  for (const row of rows) {
    yield* rowsOf(
      "INSERT INTO words (rowid, text) VALUES (?, ?)",
      numberIn(row, "item"),
      searchedText(textIn(row, "body"))
    )
  }
  if (rows.length > 0) yield* rowsOf("UPDATE indexed SET item = ?", numberIn(rows.at(-1), "item"))
  return rows.length === together
}

/**
 * The index finds texts of at least three characters; its matches are then compared character by character. An index of an
 * earlier version also has the texts of errors, which the comparison excludes.
 */
const having = (search: string): Query => {
  const found = `key IN (SELECT chat FROM words JOIN items ON item = words.rowid WHERE instr(text, ?) > 0
    AND CASE WHEN json_valid(body) THEN json_extract(body, '$.outcome') END IS NOT 'failed'`
  const isIndexed = Array.from(search).length >= 3
  return isIndexed
    ? { sql: `${found} AND words MATCH ?)`, params: [search, `"${search.replaceAll('"', '""')}"`] }
    : { sql: `${found})`, params: [search] }
}

/** Reads the messages themselves: the index can be queried only for all conversations. */
function* havingOf(keys: ReadonlyArray<number>, search: string): Asking<ReadonlySet<number>> {
  const found = new Set<number>()
  for (const key of keys) {
    const rows = yield* rowsOf(
      `SELECT body FROM items WHERE chat = ? AND list = ${lists.messages} AND until IS NULL`,
      key
    )
    if (rows.some((row) => searchedText(textIn(row, "body")).includes(search))) found.add(key)
  }
  return found
}

/** The SQL of SQLite. */
export const sqliteDialect: Dialect = {
  prefix: "",
  hold: "",
  share: "",
  claim: "",
  nextWrite: "(SELECT coalesce(max(written), 0) + 1 FROM chats)",
  pairs: (pairs) => ({
    sql: "(SELECT value ->> 0 AS name, value ->> 1 AS number FROM json_each(?)) AS pairs",
    params: [JSON.stringify(pairs)]
  }),
  among: (column, numbers) => ({
    sql: `${column} IN (SELECT value FROM json_each(?))`,
    params: [JSON.stringify(numbers)]
  }),
  addItems,
  having,
  havingOf,
  index,
  // The scope is one word of the index, so that only its own memories are found (MEMROW1). `bm25` counts rarity in all scopes.
  recall: ({ scope, stems, limit }) => ({
    sql: `SELECT id, memories.text, at FROM memory_words JOIN memories ON item = memory_words.rowid
      WHERE memory_words MATCH 'scope : "' || hex(?) || '" AND text : (' || ? || ')' AND memories.scope = ?
      ORDER BY bm25(memory_words, 0.0, 1.0), item DESC LIMIT ?`,
    params: [scope, stems.map((stem) => `"${stem}" *`).join(" OR "), scope, limit]
  }),
  // The index finds words of at least three characters.
  search: ({ stems, where, limit }) => ({
    sql: `SELECT id, position, body FROM words JOIN items ON item = words.rowid JOIN chats ON key = chat
      WHERE words MATCH ? AND ${where.sql} ORDER BY bm25(words), item DESC LIMIT ?`,
    params: [
      stems
        .filter((stem) => Array.from(stem).length >= 3)
        .map((stem) => `"${stem}"`)
        .join(" OR ") || '""',
      ...where.params,
      limit
    ]
  })
}

/** The table of applied versions. */
export const sqliteBasis = `CREATE TABLE IF NOT EXISTS migrations
  (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT`

/** The table of applied additions. */
export const sqliteAdditionsBasis = `CREATE TABLE IF NOT EXISTS additions
  (name TEXT PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT, WITHOUT ROWID`

/** The application id that marks a file as ours: "TRUP". */
export const applicationId = 0x54_52_55_50

const log: Migration = {
  version: 1,
  name: "the log",
  apply: () =>
    all([
      `CREATE TABLE chats (key INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, seq INTEGER NOT NULL,
        writer TEXT, written INTEGER NOT NULL UNIQUE, title TEXT NOT NULL, messages INTEGER NOT NULL,
        running INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL) STRICT`,
      "CREATE INDEX chats_updated_at ON chats (updated_at)",
      `CREATE TABLE commits (chat INTEGER NOT NULL REFERENCES chats (key) ON DELETE CASCADE, seq INTEGER NOT NULL,
        is_step INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (chat, seq)) STRICT, WITHOUT ROWID`,
      `CREATE TABLE items (item INTEGER PRIMARY KEY AUTOINCREMENT, chat INTEGER NOT NULL REFERENCES chats (key) ON DELETE CASCADE,
        list INTEGER NOT NULL, position INTEGER NOT NULL, seq INTEGER NOT NULL, until INTEGER, body TEXT NOT NULL,
        UNIQUE (chat, list, position, seq)) STRICT`,
      `CREATE TABLE drafts (chat INTEGER PRIMARY KEY REFERENCES chats (key) ON DELETE CASCADE, seq INTEGER NOT NULL,
        body TEXT NOT NULL) STRICT`
    ])
}

const search: Migration = {
  version: 2,
  name: "the search",
  apply: () =>
    all([
      "CREATE VIRTUAL TABLE words USING fts5 (text, tokenize = 'trigram case_sensitive 1')",
      "CREATE TABLE indexed (item INTEGER NOT NULL) STRICT",
      "INSERT INTO indexed VALUES (0)",
      `CREATE TRIGGER items_superseded AFTER UPDATE OF until ON items WHEN old.list = ${lists.messages}
        BEGIN DELETE FROM words WHERE rowid = old.item; END`,
      `CREATE TRIGGER items_deleted AFTER DELETE ON items WHEN old.list = ${lists.messages} AND old.until IS NULL
        BEGIN DELETE FROM words WHERE rowid = old.item; END`
    ])
}

const inbox: Addition = {
  name: "waiting inputs",
  apply: function* () {
    yield* all([
      "ALTER TABLE chats ADD COLUMN waiting INTEGER NOT NULL DEFAULT 0",
      "ALTER TABLE chats ADD COLUMN arrived INTEGER NOT NULL DEFAULT 0",
      "ALTER TABLE chats ADD COLUMN moved INTEGER NOT NULL DEFAULT 0",
      "CREATE INDEX chats_running ON chats (written) WHERE running = 1 OR waiting > 0",
      "CREATE INDEX chats_running_ids ON chats (id) WHERE running = 1 OR waiting > 0",
      `CREATE TABLE inbox (input INTEGER PRIMARY KEY, chat INTEGER NOT NULL REFERENCES chats (key) ON DELETE CASCADE,
        position INTEGER NOT NULL, id TEXT NOT NULL, entry INTEGER, body TEXT NOT NULL, UNIQUE (chat, position),
        UNIQUE (chat, id)) STRICT`
    ])
    yield* countWaiting("")
  }
}

const fences: Addition = {
  name: "fences",
  apply: () => all(["CREATE TABLE fences (key TEXT PRIMARY KEY, epoch INTEGER NOT NULL) STRICT, WITHOUT ROWID"])
}

/** All additions, in order. */
export const sqliteAdditions: ReadonlyArray<Addition> = [
  inbox,
  fences,
  bucketColumn(sqliteDialect),
  waitTable(sqliteDialect, {
    item: "INTEGER PRIMARY KEY AUTOINCREMENT",
    number: "INTEGER",
    text: "TEXT",
    end: " STRICT"
  }),
  blobTable(sqliteDialect, { number: "INTEGER", bytes: "BLOB", end: " STRICT" }),
  waitingBlobTable(sqliteDialect, { number: "INTEGER", end: " STRICT" }),
  memoryTable(sqliteDialect, { item: "INTEGER PRIMARY KEY AUTOINCREMENT", number: "INTEGER", end: " STRICT" }, [
    "CREATE VIRTUAL TABLE memory_words USING fts5 (scope, text)",
    `CREATE TRIGGER memories_added AFTER INSERT ON memories WHEN new.text IS NOT NULL
        BEGIN INSERT INTO memory_words (rowid, scope, text) VALUES (new.item, hex(new.scope), new.text); END`,
    `CREATE TRIGGER memories_forgotten AFTER UPDATE OF text ON memories WHEN old.text IS NOT NULL
        BEGIN DELETE FROM memory_words WHERE rowid = old.item; END`,
    `CREATE TRIGGER memories_deleted AFTER DELETE ON memories WHEN old.text IS NOT NULL
        BEGIN DELETE FROM memory_words WHERE rowid = old.item; END`
  ]),
  secretTable(sqliteDialect, " STRICT, WITHOUT ROWID")
]

/** All migrations, in order. */
export const sqliteMigrations: ReadonlyArray<Migration> = [log, search]
