/**
 * Images and files of conversations in a folder, beside any store.
 *
 * Owns: the order of the changes of one conversation's blobs. Does not own the files (`BlobFiles` does), nor the conversations: the
 * other store has them. Keeps BLOB1 to BLOB5.
 *
 * BLOBFOLDER1. The files of a conversation that is deleted or expired are removed, also if the program ends in between: the folder notes
 *              a conversation before it is deleted, and the next program that uses the folder ends the removal.
 */
import { type Conversation, Store } from "@troupe/chat/store"
import { Clock } from "@troupe/otp"
import { checkedOptions } from "../options/index.ts"
import { BlobFiles, checkBlob } from "./blobFiles.ts"
import { folderFailure } from "./folderFailure.ts"

/** The settings of images and files in a folder. */
export interface BlobFolderOptions {
  /** The clock. Default: the host's. */
  readonly clock?: Clock.Clock | undefined
}

/**
 * Keeps the images and files of a store's conversations in a folder, which it creates: one file for each.
 *
 * When to use: when the images would make a database or its backups too large.
 *
 * **Details**: `store` keeps everything else. Blobs that it has are found there: the folder has the new ones. A fork shares the files of
 * its origin as hard links. `store.close()` of the result closes the store, too.
 *
 * **Errors**: throws a `ValidationError` (`invalid_options`) for invalid options. The verbs reject with a `StoreError` when a file fails.
 *
 * **Concurrency**: programs that share the store share the folder. Each conversation is changed by one of them at a time.
 *
 * @example
 * ```ts import.meta.vitest
 * import { mkdtempSync, readdirSync } from "node:fs"
 * import { tmpdir } from "node:os"
 * import { Fake, Troupe } from "@troupe/chat"
 * import { blobFolder, sqlite } from "@troupe/store"
 *
 * const folder = mkdtempSync(`${tmpdir()}/images-`)
 * const store = blobFolder(folder, sqlite(":memory:"))
 * const troupe = await Troupe.start({ adapter: Fake.make({ script: [{ text: "A cat." }, { finish: "stop" }] }), store })
 * const base64 = Buffer.alloc(20_000, 1).toString("base64")
 * const chat = await troupe.chat("a")
 * await chat.send([{ type: "image", image: { base64, mediaType: "image/png" } }]).result()
 * await store.blobs?.size("a") // => 20000
 * await troupe.delete("a")
 * readdirSync(folder) // => []
 * await troupe.stop()
 * await store.close()
 * ```
 */
export const blobFolder = (
  path: string,
  store: Store.SessionStore,
  options: BlobFolderOptions = {}
): Store.SessionStore => {
  const { clock = Clock.live } = checkedOptions("blobFolder", path, options)
  const blobs = new FolderBlobs(path, store, clock)
  return {
    ttlMs: store.ttlMs,
    isShared: store.isShared,
    blobs,
    memories: store.memories,
    secrets: store.secrets,
    load: (id) => blobs.loaded(id),
    delete: (id, fence) => blobs.deleted(id, fence),
    fork: (id, to, at, fence) => blobs.forked(id, to, at, fence),
    expire: (isKept) => blobs.expired(isKept),
    close: () => blobs.closed(),
    append: store.append.bind(store),
    accept: store.accept.bind(store),
    claim: store.claim.bind(store),
    history: store.history.bind(store),
    at: store.at.bind(store),
    rewind: store.rewind.bind(store),
    list: store.list.bind(store),
    keepDraft: store.keepDraft.bind(store),
    ...(store.search !== undefined && { search: store.search.bind(store) }),
    ...(store.waiting !== undefined && { waiting: store.waiting.bind(store) }),
    ...(store.escalate !== undefined && { escalate: store.escalate.bind(store) })
  }
}

/** How long a blob may wait for the entry or the input that names it, in milliseconds: an hour. */
const waitMs = 3_600_000

class FolderBlobs implements NonNullable<Store.SessionStore["blobs"]> {
  readonly #path: string
  readonly #store: Store.SessionStore
  readonly #clock: Clock.Clock
  readonly #files: BlobFiles
  /** The last change of each conversation, while it is under way. */
  readonly #changes = new Map<string, Promise<unknown>>()
  #checked: Promise<void> | undefined
  #isClosed = false

  constructor(path: string, store: Store.SessionStore, clock: Clock.Clock) {
    this.#path = path
    this.#store = store
    this.#clock = clock
    this.#files = new BlobFiles(path)
  }

  async put(chat: string, id: string, bytes: Uint8Array, fence?: Store.Fence): Promise<void> {
    checkBlob(id, bytes)
    const copy = Uint8Array.from(bytes)
    await this.#changed(chat, async () => {
      // A draft of no entry is dropped, and its write checks the fence.
      if (fence !== undefined) await this.#store.keepDraft(chat, "", -1, fence)
      await this.#files.put(chat, id, copy, this.#now)
    })
  }

  async get(chat: string, id: string): Promise<Uint8Array | undefined> {
    const bytes = await this.#tried(chat, () => this.#files.get(chat, id))
    return bytes ?? (await this.#store.blobs?.get(chat, id))
  }

  async size(prefix: string): Promise<number> {
    let size = (await this.#store.blobs?.size(prefix)) ?? 0
    await this.#tried(prefix, async () => {
      for (const chat of await this.#withPrefix(prefix)) size += await this.#files.size(chat)
    })
    return size
  }

  /** The conversations with a prefix, also those that have blobs alone, which no list has. */
  async #withPrefix(prefix: string): Promise<ReadonlySet<string>> {
    const doubtful = await this.#files.doubtful()
    const found = new Set(doubtful.map(({ chat }) => chat).filter((chat) => chat.startsWith(prefix)))
    for (let after: string | undefined, isLast = false; !isLast;) {
      const { chats, next } = await this.#store.list({ prefix, children: true, limit: listedTogether, after })
      for (const { id } of chats) found.add(id)
      after = next
      isLast = next === undefined
    }
    return found
  }

  /** BLOB5 */
  async loaded(id: string): Promise<Conversation | undefined> {
    const record = await this.#store.load(id)
    await this.#changed(id, async () => {
      const due = (await this.#files.waiting(id)).filter(({ since }) => since < this.#now - waitMs)
      if (due.length === 0) return
      const named = await this.#named(id, new Set(due.map(({ blob }) => blob)))
      const waiting = textOf(record?.inbox ?? [])
      for (const { blob } of due) {
        if (named.has(blob)) await this.#files.named(id, blob)
        else if (!waiting.includes(blob)) await this.#files.remove(id, blob)
      }
    })
    return record
  }

  /** Those of the blobs that an entry names. */
  async #named(id: string, blobs: ReadonlySet<string>): Promise<ReadonlySet<string>> {
    const named = new Set<string>()
    for (let after = 0, isLast = false; !isLast && named.size < blobs.size;) {
      const commits = await this.#store.history(id, { after, limit: together })
      const text = textOf(commits)
      for (const blob of blobs) if (text.includes(blob)) named.add(blob)
      after += commits.length
      isLast = commits.length < together
    }
    return named
  }

  /** BLOBFOLDER1 */
  async deleted(id: string, fence: Store.Fence | undefined): Promise<void> {
    await this.#changed(id, async () => {
      this.#files.doubt(id)
      await this.#store.delete(id, fence)
      await this.#files.removeAll(id)
    })
  }

  /** BLOB3 */
  async forked(id: string, to: string, at: number | undefined, fence: Store.Fence | undefined): Promise<Conversation> {
    const record = await this.#store.fork(id, to, at, fence)
    try {
      await this.#changed(to, () => this.#files.copy(id, to, textOf(record), this.#now))
    } catch (error) {
      await this.#store.delete(to, fence)
      throw error
    }
    return record
  }

  /** BLOBFOLDER1 */
  async expired(isKept: (id: string) => boolean = () => false): Promise<number> {
    const count = await this.#store.expire((id) => {
      if (isKept(id)) return true
      this.#files.doubt(id)
      return false
    })
    await this.#tried("", () => this.#check())
    return count
  }

  async closed(): Promise<void> {
    this.#isClosed = true
    await this.#store.close()
  }

  get #now(): number {
    return Math.floor(this.#clock.now())
  }

  /** Removes the files of the conversations that are over (BLOBFOLDER1). */
  async #check(): Promise<void> {
    for (const { chat, since = -Infinity } of await this.#files.doubtful()) {
      if (since >= this.#now - waitMs) continue
      await this.#alone(chat, async () => {
        if ((await this.#store.load(chat)) === undefined) await this.#files.removeAll(chat)
        else this.#files.sure(chat)
      })
    }
  }

  /** Runs a change of a conversation after the changes before it, and after the removals that an earlier program left. */
  async #changed<A>(chat: string, change: () => Promise<A>): Promise<A> {
    return this.#tried(chat, async () => {
      this.#checked ??= this.#check()
      try {
        await this.#checked
      } catch (error) {
        this.#checked = undefined
        throw error
      }
      return this.#alone(chat, change)
    })
  }

  async #alone<A>(chat: string, change: () => Promise<A>): Promise<A> {
    const before = this.#changes.get(chat)
    const changing = before === undefined ? change() : before.then(change, change)
    this.#changes.set(chat, changing)
    try {
      return await changing
    } finally {
      if (this.#changes.get(chat) === changing) this.#changes.delete(chat)
    }
  }

  async #tried<A>(chat: string, work: () => Promise<A>): Promise<A> {
    if (this.#isClosed) throw Store.refused("store_closed", chat)
    try {
      return await work()
    } catch (error) {
      throw folderFailure(this.#path, error)
    }
  }
}

/** The number of entries that are read together. */
const together = 100

/** The number of conversations that are listed together: one that is written meanwhile changes its place, but not within a page. */
const listedTogether = 100_000

/** The JSON of a record, which may have integers of any size. */
const textOf = (values: unknown): string =>
  JSON.stringify(values, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value))
