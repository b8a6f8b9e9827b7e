/**
 * A store over a database: its verbs run the queries of the log on the database.
 *
 * Owns: whether the store is closed, and the conversation of each returned record. Does not own the rows (the log does), nor the
 * connection.
 *
 * STAND3. A write that follows a record of a deleted conversation is refused by the next conversation of its id, even when that has as
 *         many entries.
 * STAND4. The store holds no record: it forgets the conversation of a record together with the record.
 */
import { setImmediate } from "node:timers/promises"
import { type Conversation, Store } from "@troupe/chat/store"
import type { Clock } from "@troupe/otp"
import { checkBlob } from "./blobRows.ts"
import type { Dialect } from "./dialect.ts"
import { type Input, messageOf, recordInPortions } from "./entryForm.ts"
import { checkedKeys } from "./fences.ts"
import { type Accepted, withInbox } from "./inboxRows.ts"
import { type Expired, Log, type Standing } from "./log.ts"
import { MemoryRows, SecretRows } from "./memoryRows.ts"
import { areMissing, type Asked, fillSome, Listing, pageOf, prefixRange } from "./listing.ts"
import { type Asking, numberIn, type Row, rowsOf, textIn } from "./query.ts"
import { areUnnoted, escalateWaits, listWaits, noteSome, waitPage } from "./waitRows.ts"

/** A synchronous or asynchronous answer. */
type Answer<A> = A | Promise<A>

/**
 * A database.
 *
 * **Contract**: `write` runs in one transaction and resolves after the commit; when it fails, nothing is written. `read`
 * sees all earlier writes.
 */
export interface Database {
  /** The name for messages. */
  readonly name: string
  readonly dialect: Dialect
  readonly read: <A>(ask: () => Asking<A>) => Answer<A>
  readonly write: <A>(ask: () => Asking<A>) => Promise<A>
  /**
   * Writes with one statement, which is a transaction of its own. When that returns `undefined`, `otherwise` writes in a
   * transaction. Without it, each write runs in `write`.
   */
  readonly atOnce?: <A>(ask: () => Asking<A | undefined>, otherwise: () => Asking<A>) => Promise<A>
  readonly close: () => Answer<void>
}

/** The options of a store. */
export interface Keeping {
  readonly clock: Clock.Clock
  readonly ttlMs: number | undefined
  /** Whether programs on several machines may use the database at once. */
  readonly isShared?: boolean | undefined
}

/** The number of conversations that one search query covers. */
const together = 20

export class SqlStore implements Store.SessionStore {
  readonly ttlMs: number | undefined
  readonly isShared: boolean
  readonly #database: Database
  readonly #clock: Clock.Clock
  /** The key of the conversation that each returned record is of. */
  readonly #keys = new WeakMap<Conversation, number>()
  readonly #log: Log
  readonly #listing: Listing
  readonly #memories: MemoryRows
  readonly #secrets: SecretRows
  #isClosed = false

  constructor(database: Database, { clock, ttlMs, isShared = false }: Keeping) {
    this.#database = database
    this.#clock = clock
    this.ttlMs = ttlMs
    this.isShared = isShared
    this.#listing = new Listing(database.dialect)
    this.#memories = new MemoryRows(database.dialect)
    this.#secrets = new SecretRows(database.dialect)
    this.#log = new Log(database.dialect, { database: database.name, clock, keys: this.#keys })
  }

  async load(id: string): Promise<Conversation | undefined> {
    const loaded = await this.#read(id, () =>
      this.#log.reads.load(id, this.#log.blobs.forgottenBefore(this.#clock.now()))
    )
    if (loaded === undefined) return undefined
    if (loaded === "unmoved") {
      await this.#write(id, () => this.#log.move(id))
      return this.load(id)
    }
    const { key, origin, entry, waiting, draft, hasForgotten } = loaded
    const kept = entry === undefined ? Store.blank(id) : await recordInPortions(origin, entry)
    const record = withInbox(kept, waiting)
    if (hasForgotten) await this.#write(id, () => this.#log.collectBlobs(id))
    if (entry === undefined && waiting.length === 0) return undefined
    return this.#noted({ key, record: draft === undefined ? record : { ...record, draft } })
  }

  /** With one statement if the database can, else in a transaction; with memories always in one. */
  async append(
    id: string,
    entries: ReadonlyArray<Store.Entry>,
    appending: Store.Appending = {}
  ): Promise<Conversation> {
    const [log, database] = [this.#log, this.#database]
    this.#open(id)
    const { memories } = appending
    const append = () => log.append(id, entries, appending)
    if (memories !== undefined) return this.#add(id, () => this.#remembering(append(), memories))
    const writing = database.atOnce?.(() => log.appendAtOnce(id, entries, appending), append) ?? database.write(append)
    return this.#noted(await writing)
  }

  async accept(id: string, input: Input, fence?: Store.Fence): Promise<Accepted> {
    return this.#write(id, () => this.#log.accept(id, input, fence))
  }

  async claim(key: string | ReadonlyArray<string>, epoch: number): Promise<void> {
    const keys = checkedKeys(key, epoch)
    await this.#write("", () => this.#log.claim(keys, epoch))
  }

  async delete(id: string, fence?: Store.Fence): Promise<void> {
    await this.#write(id, () => this.#log.delete(id, fence))
  }

  async history(
    id: string,
    options?: Parameters<Store.SessionStore["history"]>[1]
  ): Promise<ReadonlyArray<Store.Commit>> {
    const page = Store.Lists.historyOptions(options)
    return this.#read(id, () => this.#log.reads.history(id, page))
  }

  async at(id: string, seq: number): Promise<Conversation | undefined> {
    return this.#read(id, () => this.#log.reads.at(id, seq))
  }

  async fork(id: string, to: string, at?: number, fence?: Store.Fence): Promise<Conversation> {
    return this.#add(id, () => this.#log.fork(id, to, at, fence))
  }

  async rewind(id: string, seq: number, appending: Store.Appending = {}): Promise<Conversation> {
    return this.#add(id, () => this.#log.rewind(id, seq, appending))
  }

  async list(options?: Store.ListOptions): Promise<Store.ChatList> {
    const filter = Store.Lists.listOptions(options, cursorOf)
    if (filter.buckets !== undefined) await this.#fill(areMissing, fillSome)
    if (filter.search !== "" && filter.prefix !== "") return this.#searchWithPrefix(filter)
    if (filter.search !== "") await this.#index("list")
    return pageOf(await this.#read("", () => this.#listing.all(filter)), filter.limit)
  }

  async waiting(options?: Store.Lists.WaitOptions): Promise<Store.Lists.WaitList> {
    const filter = Store.Lists.waitOptions(options)
    const { dialect } = this.#database
    await this.#fill(areUnnoted, noteSome)
    return waitPage(await this.#read("", () => listWaits(dialect, filter, this.#clock.now())), filter.limit)
  }

  async escalate(askedUntil: number, limit: number): Promise<ReadonlyArray<Store.Lists.Wait>> {
    const due = { askedUntil: Math.floor(askedUntil), limit, now: Math.floor(this.#clock.now()) }
    await this.#fill(areUnnoted, noteSome)
    return this.#write("", () => escalateWaits(this.#database.dialect, due))
  }

  /** Uses the index of the messages, which the first search completes in portions. */
  async search(options: Store.Lists.SearchOptions): Promise<ReadonlyArray<Store.Lists.FoundMessage>> {
    const { query, chat, prefix, limit } = Store.Lists.searchOptions(options)
    const stems = Store.Lists.queryWords(query).map(Store.Lists.stemOf)
    this.#open("")
    if (stems.length === 0) return []
    await this.#index("search")
    const { dialect } = this.#database
    const { from, to } = prefixRange(prefix)
    const where =
      chat === undefined ? { sql: "id >= ? AND id < ?", params: [from, to] } : { sql: "id = ?", params: [chat] }
    const { sql, params } = dialect.search({ stems, where, limit })
    const rows = await this.#read("", () => rowsOf(sql, ...params))
    return rows.map((row) => foundIn(this.#database.name, row))
  }

  readonly blobs: NonNullable<Store.SessionStore["blobs"]> = {
    put: async (chat, id, bytes, fence) => {
      checkBlob(id, bytes)
      await this.#write(chat, () => this.#log.putBlob(chat, id, bytes, fence))
    },
    get: async (chat, id) => this.#read(chat, () => this.#log.blobs.get(chat, id)),
    size: async (prefix) => this.#read(prefix, () => this.#log.blobs.size(prefix))
  }

  readonly memories: NonNullable<Store.SessionStore["memories"]> = {
    change: (scope, changes) =>
      this.#write("", () => this.#memories.change({ scope, changes }, Math.floor(this.#clock.now()))),
    recall: (scope, options) => this.#read("", () => this.#memories.recall(scope, options)),
    list: (scope, options) => this.#read("", () => this.#memories.list(scope, options))
  }

  readonly secrets: NonNullable<Store.SessionStore["secrets"]> = {
    load: (owner, key) => this.#read("", () => this.#secrets.load(owner, key)),
    save: (owner, key, text) => this.#write("", () => this.#secrets.save(owner, key, text)),
    delete: (owner) => this.#write("", () => this.#secrets.delete(owner))
  }

  async keepDraft(id: string, text: string, after: number, fence?: Store.Fence): Promise<void> {
    await this.#write(id, () => this.#log.keepDraft(id, text, after, fence))
  }

  /** Works in portions, and yields to other tasks in between. */
  async expire(isKept: (id: string) => boolean = () => false): Promise<number> {
    const { ttlMs } = this
    this.#open("")
    if (ttlMs === undefined) return 0
    const end = Math.floor(this.#clock.now()) - ttlMs
    let count = 0
    for (let after: number | undefined = 0; after !== undefined;) {
      const from: number = after
      const expired: Expired = await this.#write("", () => this.#log.expire(end, isKept, from))
      count += expired.count
      after = expired.next
    }
    return count
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await this.#database.close()
  }

  /** Writes an entry, and the memories of its turn. */
  *#remembering(append: Asking<Standing>, memories: NonNullable<Store.Appending["memories"]>): Asking<Standing> {
    const standing = yield* append
    yield* this.#memories.change(memories, Math.floor(this.#clock.now()))
    return standing
  }

  /** Indexes the messages since the last search in portions, and yields to other tasks in between. */
  async #index(use: Parameters<Dialect["index"]>[0]): Promise<void> {
    const { dialect } = this.#database
    while (await this.#write("", () => dialect.index(use)));
  }

  /** Completes the rows that an earlier version added, in portions. BUCKET1, WAITROW2 */
  async #fill(
    isNeeded: (dialect: Dialect) => Asking<boolean>,
    some: (dialect: Dialect) => Asking<boolean>
  ): Promise<void> {
    const { dialect } = this.#database
    if (!(await this.#read("", () => isNeeded(dialect)))) return
    while (await this.#write("", () => some(dialect)));
  }

  /** Works in portions of conversations, and yields to other tasks in between. */
  async #searchWithPrefix(filter: Asked): Promise<Store.ChatList> {
    const candidates = await this.#read("", () => this.#listing.candidates(filter))
    const found: Array<Row> = []
    for (let at = 0; at < candidates.length && found.length <= filter.limit; at += together) {
      if (at > 0) await setImmediate()
      const some = candidates.slice(at, at + together)
      found.push(...(await this.#read("", () => this.#listing.having(some, filter.search))))
    }
    return pageOf(found, filter.limit)
  }

  async #add(id: string, ask: () => Asking<Standing>): Promise<Conversation> {
    return this.#noted(await this.#write(id, ask))
  }

  /** Notes the key of a record whose transaction is committed. */
  #noted({ key, record }: Standing): Conversation {
    this.#keys.set(record, key)
    return record
  }

  async #read<A>(id: string, ask: () => Asking<A>): Promise<A> {
    this.#open(id)
    return this.#database.read(ask)
  }

  async #write<A>(id: string, ask: () => Asking<A>): Promise<A> {
    this.#open(id)
    return this.#database.write(ask)
  }

  #open(id: string): void {
    if (this.#isClosed) throw Store.refused("store_closed", id)
  }
}

const cursorOf = (after: string): number | undefined => (/^\d{1,15}$/.test(after) ? Number(after) : undefined)

const foundIn = (database: string, row: Row): Store.Lists.FoundMessage => {
  const id = textIn(row, "id")
  return { chat: id, place: numberIn(row, "position"), message: messageOf({ database, id }, textIn(row, "body")) }
}
