/**
 * The rows of memories and of secrets: the texts of each scope, and of each owner.
 *
 * Owns: the rows of the tables `memories` and `secrets`. Does not own the conversations, which a memory outlives.
 *
 * MEMROW1. Each query names its scope, and returns and changes only rows of this scope. In SQLite the order of
 *          recalled memories depends on how rare a word is in all scopes.
 * MEMROW2. A forgotten memory has no text any more. Its id stays for some time, so that a write that comes again does not add it.
 * SECROW1. Each query of secrets names its owner. The search has no text of a secret.
 */
import { Store } from "@troupe/chat/store"
import type { Dialect } from "./dialect.ts"
import { all, type Addition } from "./migrations.ts"
import { type Asking, numberIn, readable, type Row, rowsOf, storedKey, textIn } from "./query.ts"

export class MemoryRows {
  readonly #dialect: Dialect
  readonly #sql: ReturnType<typeof statements>

  constructor(dialect: Dialect) {
    this.#dialect = dialect
    this.#sql = statements(dialect)
  }

  /** Makes changes in their order; then the oldest memories beyond the bound are removed. MEMROW2 */
  *change({ scope: given, changes }: NonNullable<Store.Appending["memories"]>, now: number): Asking<void> {
    const scope = storedKey(Store.Lists.memoryScope(given))
    const { alone } = this.#dialect
    // Side by side, two transactions would not count each other's memories.
    if (alone !== undefined) yield* rowsOf(alone, scope)
    for (const change of changes) {
      const id = JSON.stringify(change.id)
      if (change.type === "remember") yield* rowsOf(this.#sql.remember, scope, id, readable(change.text), now)
      else yield* rowsOf(this.#sql.forget, now, scope, id)
    }
    yield* rowsOf(this.#sql.bound, scope)
    yield* rowsOf(this.#sql.purge, scope, now - Store.Lists.forgottenMs)
  }

  *recall(scope: string, options: Store.Lists.RecallOptions): Asking<ReadonlyArray<Store.Lists.Memory>> {
    const { query, limit } = Store.Lists.recallOptions(scope, options)
    const stems = Store.Lists.queryWords(query).map(Store.Lists.stemOf)
    if (stems.length === 0) return []
    const { sql, params } = this.#dialect.recall({ scope: storedKey(scope), stems, limit })
    return (yield* rowsOf(sql, ...params)).map(memoryIn)
  }

  *list(scope: string, options: Store.Lists.MemoryListOptions | undefined): Asking<Store.Lists.MemoryList> {
    const { limit, after } = Store.Lists.memoryListOptions(scope, options)
    const rows = yield* rowsOf(this.#sql.list, storedKey(scope), after, limit + 1)
    const memories = rows.slice(0, limit).map(memoryIn)
    return rows.length > limit ? { memories, next: textIn(rows[limit - 1], "item") } : { memories }
  }
}

export class SecretRows {
  readonly #sql: ReturnType<typeof secretStatements>

  constructor({ prefix }: Dialect) {
    this.#sql = secretStatements(`${prefix}secrets`)
  }

  *load(owner: string, key: string): Asking<string | undefined> {
    Store.Lists.secretOptions(owner, key)
    const [row] = yield* rowsOf(this.#sql.load, storedKey(owner), storedKey(key))
    return row === undefined ? undefined : (JSON.parse(textIn(row, "text")) as string)
  }

  *save(owner: string, key: string, text: string | undefined): Asking<void> {
    Store.Lists.secretOptions(owner, key, text)
    const [of, at] = [storedKey(owner), storedKey(key)]
    if (text === undefined) yield* rowsOf(this.#sql.remove, of, at)
    else yield* rowsOf(this.#sql.save, of, at, JSON.stringify(text))
  }

  *delete(owner: string): Asking<void> {
    Store.Lists.secretOptions(owner, "")
    yield* rowsOf(this.#sql.delete, storedKey(owner))
  }
}

const secretStatements = (secrets: string) =>
  ({
    load: `SELECT text FROM ${secrets} WHERE owner = ? AND key = ?`,
    save: `INSERT INTO ${secrets} (owner, key, text) VALUES (?, ?, ?)
      ON CONFLICT (owner, key) DO UPDATE SET text = excluded.text`,
    remove: `DELETE FROM ${secrets} WHERE owner = ? AND key = ?`,
    delete: `DELETE FROM ${secrets} WHERE owner = ?`
  }) as const

/** Adds the table of secrets. */
export const secretTable = ({ prefix }: Dialect, end: string): Addition => ({
  name: "secrets",
  apply: () =>
    all([
      `CREATE TABLE ${prefix}secrets (owner TEXT NOT NULL, key TEXT NOT NULL, text TEXT NOT NULL,
        PRIMARY KEY (owner, key))${end}`
    ])
})

const memoryIn = (row: Row): Store.Lists.Memory => ({
  id: JSON.parse(textIn(row, "id")) as string,
  text: textIn(row, "text"),
  at: numberIn(row, "at")
})

const statements = ({ prefix }: Dialect) => {
  const memories = `${prefix}memories`
  const most = Store.Lists.mostMemories
  return {
    remember: `INSERT INTO ${memories} (scope, id, text, at) VALUES (?, ?, ?, ?) ON CONFLICT (scope, id) DO NOTHING`,
    forget: `UPDATE ${memories} SET text = NULL, at = ? WHERE scope = ? AND id = ? AND text IS NOT NULL`,
    bound: `DELETE FROM ${memories} WHERE item IN (SELECT item FROM ${memories} WHERE scope = ? AND text IS NOT NULL
      ORDER BY item DESC LIMIT ${most} OFFSET ${most})`,
    purge: `DELETE FROM ${memories} WHERE scope = ? AND text IS NULL AND at < ?`,
    list: `SELECT item, id, text, at FROM ${memories} WHERE scope = ? AND text IS NOT NULL AND item < ?
      ORDER BY item DESC LIMIT ?`
  } as const
}

/** Adds the table of memories; `more` are the statements of its index. */
export const memoryTable = (
  { prefix }: Dialect,
  types: { readonly item: string; readonly number: string; readonly end: string },
  more: ReadonlyArray<string> = []
): Addition => ({
  name: "memories",
  apply: () =>
    all([
      `CREATE TABLE ${prefix}memories (item ${types.item}, scope TEXT NOT NULL, id TEXT NOT NULL, text TEXT,
        at ${types.number} NOT NULL, UNIQUE (scope, id))${types.end}`,
      `CREATE INDEX memories_kept ON ${prefix}memories (scope, item) WHERE text IS NOT NULL`,
      ...more
    ])
})
