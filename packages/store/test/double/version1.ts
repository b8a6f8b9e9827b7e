/**
 * A database as version 1 of the schema was: written here by hand, not by today's code. One conversation of three entries, the
 * last of which took a message back, and a draft.
 */

const entry = (seq: number, rest: string): string =>
  `{"seq":${seq},"at":${seq}000,"kind":"saved",${rest},"state":{"usage":{},"running":false,"pendingToolCalls":[]},"isStep":true}`

const commits: ReadonlyArray<readonly [seq: number, body: string]> = [
  [1, entry(1, '"kept":0,"known":{"kept":0}')],
  [2, entry(2, '"kept":1,"known":{"kept":1}')],
  [3, entry(3, '"kept":1,"known":{"kept":1}')]
]

const message = (role: string, content: string): string => `{"role":"${role}","content":"${content}"}`

/** list, position, seq, until, body */
const items: ReadonlyArray<readonly [number, number, number, number | null, string]> = [
  [0, 0, 1, null, message("user", "An OLD question")],
  [1, 0, 1, null, '"i1"'],
  [0, 1, 2, 3, message("assistant", "An early answer")],
  [0, 1, 3, null, message("assistant", "A late answer")]
]

const text = (value: string): string => `'${value}'`

const rows = (chat: number): ReadonlyArray<string> => [
  ...commits.map(
    ([seq, body]) => `INSERT INTO commits (chat, seq, is_step, body) VALUES (${chat}, ${seq}, 1, ${text(body)})`
  ),
  ...items.map(
    ([list, position, seq, until, body]) =>
      `INSERT INTO items (chat, list, position, seq, until, body)
        VALUES (${chat}, ${list}, ${position}, ${seq}, ${until ?? "NULL"}, ${text(body)})`
  ),
  `INSERT INTO drafts (chat, seq, body) VALUES (${chat}, 3, '"So far"')`,
  "INSERT INTO migrations (version, name, applied_at) VALUES (1, 'the log', 1000)"
]

/** The statements that make it in SQLite. */
export const sqliteVersion1: ReadonlyArray<string> = [
  "PRAGMA journal_mode = WAL",
  "PRAGMA application_id = 1414681936",
  "CREATE TABLE migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT",
  `CREATE TABLE chats (key INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, seq INTEGER NOT NULL,
    writer TEXT, written INTEGER NOT NULL UNIQUE, title TEXT NOT NULL, messages INTEGER NOT NULL,
    running INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL) STRICT`,
  "CREATE INDEX chats_updated_at ON chats (updated_at)",
  `CREATE TABLE commits (chat INTEGER NOT NULL REFERENCES chats (key) ON DELETE CASCADE, seq INTEGER NOT NULL,
    is_step INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (chat, seq)) STRICT, WITHOUT ROWID`,
  `CREATE TABLE items (item INTEGER PRIMARY KEY AUTOINCREMENT,
    chat INTEGER NOT NULL REFERENCES chats (key) ON DELETE CASCADE, list INTEGER NOT NULL, position INTEGER NOT NULL,
    seq INTEGER NOT NULL, until INTEGER, body TEXT NOT NULL, UNIQUE (chat, list, position, seq)) STRICT`,
  `CREATE TABLE drafts (chat INTEGER PRIMARY KEY REFERENCES chats (key) ON DELETE CASCADE, seq INTEGER NOT NULL,
    body TEXT NOT NULL) STRICT`,
  `INSERT INTO chats (key, id, seq, writer, written, title, messages, running, created_at, updated_at)
    VALUES (1, 'a', 3, 'w1', 3, 'An OLD question', 2, 0, 1000, 3000)`,
  ...rows(1)
]

/** The statements that make it in PostgreSQL, in a schema that is there. */
export const postgresVersion1: ReadonlyArray<string> = [
  "CREATE TABLE migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL)",
  "CREATE SEQUENCE writes START 4",
  `CREATE TABLE chats (key BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id TEXT NOT NULL UNIQUE, seq BIGINT NOT NULL,
    writer TEXT, written BIGINT NOT NULL UNIQUE, title TEXT NOT NULL, messages INTEGER NOT NULL,
    running INTEGER NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL)`,
  "CREATE INDEX chats_updated_at ON chats (updated_at)",
  `CREATE TABLE commits (chat BIGINT NOT NULL REFERENCES chats (key) ON DELETE CASCADE, seq BIGINT NOT NULL,
    is_step INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (chat, seq))`,
  `CREATE TABLE items (item BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    chat BIGINT NOT NULL REFERENCES chats (key) ON DELETE CASCADE, list INTEGER NOT NULL, position INTEGER NOT NULL,
    seq BIGINT NOT NULL, until BIGINT, body TEXT NOT NULL, UNIQUE (chat, list, position, seq))`,
  `CREATE TABLE drafts (chat BIGINT PRIMARY KEY REFERENCES chats (key) ON DELETE CASCADE, seq BIGINT NOT NULL,
    body TEXT NOT NULL)`,
  `INSERT INTO chats (id, seq, writer, written, title, messages, running, created_at, updated_at)
    VALUES ('a', 3, 'w1', 3, 'An OLD question', 2, 0, 1000, 3000)`,
  ...rows(1)
]
