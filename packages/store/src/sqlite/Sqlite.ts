/**
 * Conversations in an SQLite file of this program.
 *
 * @module
 */
import type { Store } from "@troupe/chat/store"
import { Clock } from "@troupe/otp"
import { openSqlite } from "./openSqlite.ts"
import { checkedOptions } from "../options/index.ts"
import { SqlStore } from "../sql/index.ts"

/** The options of a store in SQLite. */
export interface SqliteOptions {
  /**
   * What a completed save survives. `"power"`: the end of the program and of the machine, for one wait on the disk each time.
   * `"process"`: the end of the program, `kill -9` too; when the machine loses power or its system crashes, the last moments may
   * be lost, and the rest is intact. Default: `"power"`.
   */
  readonly durability?: "power" | "process" | undefined
  /** How long a conversation is kept after its newest entry or input, in milliseconds. Default: for ever. */
  readonly ttlMs?: number | undefined
  /** How long a write waits for another program's write, in milliseconds; the wait blocks this program. Default: 2,000. */
  readonly busyTimeoutMs?: number | undefined
  /** The clock of the entries' dates and of `ttlMs`. Default: the host's. */
  readonly clock?: Clock.Clock | undefined
}

/**
 * Stores conversations in an SQLite file, which it creates, or in memory (`":memory:"`).
 *
 * **Details**: the file is opened and its schema migrated at once. All saves of one turn of the event loop are one
 * transaction. While the file is open there are two more beside it, `-wal` and `-shm`, which belong to it. An id has at
 * most 2,048 bytes.
 *
 * **Errors**: throws a `StoreError` when the file cannot be opened, belongs to another program, or has a newer schema.
 * Throws a `ValidationError` (`invalid_options`) for invalid options. The verbs reject with a `StoreError` when the
 * database fails.
 *
 * **Concurrency**: several programs on one machine may open one file; each of their writes is a transaction. Never open the
 * file over a network file system.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Fake, Troupe } from "@troupe/chat"
 * import { sqlite } from "@troupe/store"
 *
 * const store = sqlite(":memory:") // or "chats.db"
 * const troupe = await Troupe.start({ adapter: Fake.make({ script: [{ text: "Hi." }, { finish: "stop" }] }), store })
 * await (await troupe.chat("a")).send("Hello").result()
 * await troupe.stop()
 *
 * const { chats } = await store.list({ search: "hello" })
 * chats.map(({ id, title, messages }) => [id, title, messages]) // => [["a", "Hello", 2]]
 * await store.close()
 * ```
 */
export const sqlite = (path: string, options: SqliteOptions = {}): Store.SessionStore => {
  const {
    durability = "power",
    busyTimeoutMs = 2_000,
    clock = Clock.live,
    ttlMs
  } = checkedOptions("sqlite", path, options)
  return new SqlStore(openSqlite(path, { durability, busyTimeoutMs, clock }), { clock, ttlMs })
}
