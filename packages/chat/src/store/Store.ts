/**
 * The port of stores of chats.
 *
 * @module
 */
import { Clock } from "@troupe/otp"
import { memoryStore } from "./memoryStore.ts"
import { isRecord } from "../errors/index.ts"
import type { Store, SessionStore } from "./sessionStore.ts"

export type { Appending, Fence, RecordStore, Store, ListOptions, ChatList, SessionStore } from "./sessionStore.ts"

export * as Lists from "./Lists.ts"
export { blank, Commit, commitOf, forked, recordOf, replacing } from "./commitLog.ts"
export { refused } from "../errors/index.ts"
export { bucketOf, Entry, evolve, saved } from "../record/index.ts"

const verbs = [
  "load",
  "append",
  "accept",
  "claim",
  "delete",
  "history",
  "at",
  "fork",
  "rewind",
  "list",
  "keepDraft",
  "expire",
  "close"
]

/** Whether a store keeps the log of each conversation. */
export const isSessionStore = (store: Store): store is SessionStore =>
  isRecord(store) && verbs.every((verb) => typeof Reflect.get(store, verb) === "function")

/** The options of a store in memory. */
interface MemoryOptions {
  /** The clock of the entries' dates and of `ttlMs`. Default: the host's. */
  readonly clock?: Clock.Clock | undefined
  /** How long a conversation is kept after its newest entry or input, in milliseconds. Default: without limit. */
  readonly ttlMs?: number | undefined
}

/**
 * Keeps conversations as long as the program runs.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Fake, Troupe } from "@troupe/chat"
 * import { Store } from "@troupe/chat/store"
 *
 * const store = Store.memory()
 * const troupe = await Troupe.start({ adapter: Fake.make({ script: [{ text: "Hi." }, { finish: "stop" }] }), store })
 * await (await troupe.chat("a")).send("Hello").result()
 * await troupe.stop()
 *
 * const history = await store.history("a")
 * history.map(({ messages }) => messages.length) // => [1, 1]
 * ```
 */
export const memory = ({ clock = Clock.live, ttlMs }: MemoryOptions = {}): SessionStore => memoryStore(clock, ttlMs)
