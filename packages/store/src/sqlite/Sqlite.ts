/**
 * Conversations in an SQLite file of this program.
 *
 * @module
 */
import type { Store } from "@troupe/chat/store"
import { Clock } from "@troupe/otp"
import { openSqlite } from "./openSqlite.ts"
import { checkedOptions, SqlStore } from "../sql/index.ts"

/**
 * How a store in SQLite keeps.
 *
 * **Details**
 *
 * - `durability`: what a save that was answered survives. `"power"`: the end of the program and of the machine, for one wait
 *   on the disk each time. `"process"`: the end of the program, `kill -9` too; when the machine loses power or its system
 *   crashes, the last moments before may be lost, and what is left is whole
 *
 * **Units and defaults**: `durability` is `"power"`. `ttlMs` is how long after its newest entry a conversation is kept,
 * in milliseconds; without it, for ever. `busyTimeoutMs` is how long a write waits for another program's, 2,000; meanwhile this
 * program stands still. `clock` is the host's.
 */
export interface SqliteOptions {
  readonly durability?: "power" | "process" | undefined
  readonly ttlMs?: number | undefined
  readonly busyTimeoutMs?: number | undefined
  readonly clock?: Clock.Clock | undefined
}

/**
 * Keeps conversations in an SQLite file, which it creates, or in memory (`":memory:"`).
 *
 * **Details**: the file is opened at once, and its schema brought up to date. What all chats save in one turn of the event loop
 * is one transaction. Beside the file there are two more while it is open, `-wal` and `-shm`; they belong to it. An id has at
 * most 2,048 bytes.
 *
 * **Errors**: throws a `StoreError` when the file cannot be opened, is none of ours or of a newer schema; a `ValidationError`
 * (`invalid_options`) for options that make no sense. The verbs reject with a `StoreError` when the database fails.
 *
 * **Concurrency**: several programs may open one file on one machine; each write of theirs is a transaction. Never open it over a
 * network's file system.
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
