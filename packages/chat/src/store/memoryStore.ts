/**
 * A store that keeps its log in memory.
 *
 * Owns: the entries of each conversation, its newest record, its waiting inputs, its draft and copies of the bytes of its blobs. Does not own
 * the record objects, which it returns uncopied: records are never changed. What conversations wait for is in `MemoryWaits`.
 *
 * Keeps LOG1 and LOG2.
 *
 * MEMORY1. A write that follows a record of a deleted conversation is refused by a new conversation with the same id, even if that
 *          has as many entries.
 */
import type { Clock } from "@troupe/otp"
import { bucketOf, type Conversation, type Entry, type InboxEntry, isChildId, saved } from "../record/index.ts"
import { blobOptions, claimOptions, historyOptions, KeptSecrets, listOptions, searched, summaryOf } from "./chatList.ts"
import { KeptMemories, bestOf, rankedMessages, searchOptions } from "./messageSearch.ts"
import { MemoryWaits, PrefixIndex } from "./waitList.ts"
import { blank, type Commit, commitOf, forked, recordOf, replacing, withInbox } from "./commitLog.ts"
import { type Refusal, refused } from "../errors/index.ts"
import type { Appending, ChatList, ChatSummary, Fence, ListOptions, SessionStore } from "./sessionStore.ts"

/**
 * The log of one conversation; `written` is the number of its last write among all writes of the store. `inbox` has the
 * waiting inputs by id, in the order they were accepted; `blobs` the bytes of its images and files.
 */
interface Log {
  readonly commits: Array<Commit>
  readonly inbox: Map<string, InboxEntry>
  blobs: MemoryBlobs
  readonly createdAt: number
  updatedAt: number
  record: Conversation
  written: number
  draft: string | undefined
}

export const memoryStore = (clock: Clock.Clock, ttlMs: number | undefined): SessionStore => {
  const logs = new PrefixIndex<Log>()
  const waits = new MemoryWaits()
  const kept = new KeptMemories()
  const secrets = new KeptSecrets()
  /** The log that each returned record is of (MEMORY1). */
  const owners = new WeakMap<Conversation, Log>()
  /** The claimed epoch of each key. */
  const fences = new Map<string, number>()
  let writes = 0
  let isClosed = false

  const find = (id: string): Log | undefined => {
    if (isClosed) throw refused("store_closed", id)
    return logs.get(id)
  }

  const known = (id: string): Log => {
    const log = find(id)
    if (log === undefined || !isConversation(log)) throw refused("unknown_chat", id)
    return log
  }

  /** Refuses the write of an older epoch than the claimed one. */
  const checkFence = (fence: Fence | undefined): void => {
    if (fence !== undefined && (fences.get(fence.key) ?? 0) > fence.epoch) {
      throw refused("store_fenced", fence.key, fence.epoch)
    }
  }

  const add = (
    log: Log | undefined,
    id: string,
    entries: ReadonlyArray<Entry>,
    kind: Commit["kind"],
    from?: Commit["from"]
  ): Conversation => {
    const { record, change } = commitOf(log?.record ?? blank(id), entries)
    const seq = (log?.commits.length ?? 0) + 1
    const at = Math.floor(clock.now())
    const entry = { seq, at, kind, ...change }
    const written = log ?? begin(id, at)
    written.commits.push(from === undefined ? entry : { ...entry, from })
    const newest = { ...record, version: seq }
    owners.set(newest, written)
    Object.assign(written, { record: newest, updatedAt: at, written: ++writes, draft: undefined })
    waits.note(newest, at)
    return newest
  }

  /** A record of the log, as it is returned. */
  const owned = (log: Log, record: Conversation): Conversation => {
    owners.set(record, log)
    return record
  }

  /** A conversation without an entry. */
  const begin = (id: string, at: number): Log => {
    const log: Log = {
      commits: [],
      inbox: new Map(),
      blobs: new MemoryBlobs(),
      createdAt: at,
      updatedAt: at,
      record: blank(id),
      written: 0,
      draft: undefined
    }
    logs.set(id, log)
    return log
  }

  const bury = (id: string): void => {
    logs.delete(id)
    waits.forget(id)
  }

  return {
    ttlMs,
    load: (id) => {
      const log = find(id)
      if (log === undefined) return undefined
      const { blobs, commits, inbox } = log
      blobs.collect(
        Math.floor(clock.now()),
        () => commits,
        () => Array.from(inbox.values())
      )
      if (!isConversation(log)) return undefined
      const record = log.inbox.size === 0 ? log.record : withInbox(log.record, Array.from(log.inbox.values()))
      return owned(log, log.draft === undefined ? record : { ...record, draft: log.draft })
    },
    accept: (id, input, fence) => {
      const log = find(id)
      checkFence(fence)
      const waiting = log?.inbox.get(input.id)
      if (waiting !== undefined) return { input: waiting, isNew: false }
      const at = Math.floor(clock.now())
      const written = log ?? begin(id, at)
      written.inbox.set(input.id, input)
      Object.assign(written, { updatedAt: at, written: ++writes })
      return { input, isNew: true }
    },
    append: (id, entries, { after, record, takes = [], fence, memories } = {}) => {
      const log = find(id)
      checkFence(fence)
      check(id, log, after)
      const owner = record && owners.get(record)
      if (owner !== undefined && owner !== log) throw refused("store_conflict", id, log?.commits.length ?? 0)
      if (memories !== undefined) kept.change(memories.scope, memories.changes, Math.floor(clock.now()))
      for (const input of takes) log?.inbox.delete(input)
      if (entries.length === 0 && after === undefined) return log?.record ?? blank(id)
      return add(log, id, entries, "saved")
    },
    claim: (key, epoch) => {
      find("")
      const keys = claimOptions(key, epoch)
      for (const one of keys) checkFence({ key: one, epoch })
      for (const one of keys) fences.set(one, epoch)
    },
    delete: (id, fence) => {
      const log = find(id)
      checkFence(fence)
      if (log !== undefined) bury(id)
    },
    history: (id, options) => {
      const { after, limit } = historyOptions(options)
      return find(id)?.commits.slice(after, after + limit) ?? []
    },
    at: (id, seq) => {
      const log = find(id)
      return log?.commits[seq - 1] === undefined ? undefined : recordAt(id, log, seq)
    },
    fork: (id, to, at, fence) => {
      const log = known(id)
      checkFence(fence)
      const { seq } = stepAt(id, log, at ?? log.commits.findLast(({ isStep }) => isStep)?.seq)
      const existing = logs.get(to)
      if (existing !== undefined && isConversation(existing)) throw refused("chat_exists", to)
      const fork = add(undefined, to, [saved(forked(recordAt(id, log, seq), to, log.record))], "forked", { id, seq })
      known(to).blobs = log.blobs.namedBy(fork, Math.floor(clock.now()))
      return fork
    },
    rewind: (id, to, { after, fence } = {}) => {
      const log = known(id)
      checkFence(fence)
      check(id, log, after)
      const earlier = to === 0 ? blank(id) : recordAt(id, log, stepAt(id, log, to).seq)
      const entry = add(log, id, [replacing(log.record, forked(earlier, id, log.record))], "rewound", { id, seq: to })
      return owned(log, withInbox(entry, Array.from(log.inbox.values())))
    },
    list: (options) => {
      find("")
      return page(logs, options)
    },
    waiting: (options) => {
      find("")
      return waits.page(options, clock.now())
    },
    escalate: (askedUntil, limit) => {
      find("")
      return waits.escalate(askedUntil, limit, Math.floor(clock.now()))
    },
    blobs: {
      put: (id, blob, bytes, fence) => {
        blobOptions(blob, bytes)
        const log = find(id)
        checkFence(fence)
        const now = Math.floor(clock.now())
        const { blobs } = log ?? begin(id, now)
        blobs.put(blob, bytes, now)
      },
      get: (id, blob) => find(id)?.blobs.get(blob),
      size: (prefix) => {
        find(prefix)
        return Array.from(logs.of(prefix)).reduce((sum, [, { blobs }]) => sum + blobs.size, 0)
      }
    },
    memories: {
      change: (scope, changes) => {
        find("")
        kept.change(scope, changes, Math.floor(clock.now()))
      },
      recall: (scope, options) => {
        find("")
        return kept.recall(scope, options)
      },
      list: (scope, options) => {
        find("")
        return kept.list(scope, options)
      }
    },
    secrets: {
      load: (owner, key) => {
        find("")
        return secrets.load(owner, key)
      },
      save: (owner, key, text) => {
        find("")
        secrets.save(owner, key, text)
      },
      delete: (owner) => {
        find("")
        secrets.delete(owner)
      }
    },
    keepDraft: (id, text, after, fence) => {
      const log = find(id)
      checkFence(fence)
      if (log?.commits.length === after) log.draft = text
    },
    expire: (isKept = () => false) => {
      find("")
      if (ttlMs === undefined) return 0
      const end = Math.floor(clock.now()) - ttlMs
      const over = Array.from(logs.of("")).filter(([id, { updatedAt }]) => updatedAt < end && !isKept(id))
      for (const [id] of over) bury(id)
      return over.length
    },
    search: (options) => {
      find("")
      const { query, chat, prefix, limit } = searchOptions(options)
      const among =
        chat === undefined ? Array.from(logs.of(prefix)) : Array.from(logs.of(chat)).filter(([id]) => id === chat)
      const found = among.flatMap(([id, { record }]) => rankedMessages(id, record.thread.messages, query, limit))
      return bestOf(found, limit)
    },
    close: () => {
      isClosed = true
      logs.clear()
      waits.clear()
      kept.clear()
      secrets.clear()
      fences.clear()
    }
  }
}

const page = (logs: PrefixIndex<Log>, options: ListOptions | undefined): ChatList => {
  const { prefix, search, running, buckets, children, limit, after } = listOptions(options, cursorOf)
  const among = buckets === undefined ? undefined : new Set(buckets)
  const found = Array.from(logs.of(prefix))
    .filter(([, log]) => isConversation(log) && (after === undefined || log.written < after) && (!running || runs(log)))
    .filter(([id]) => children || !isChildId(id))
    .filter(([id, log]) => among?.has(bucketOf(id)) !== false && has(log, search))
    .toSorted(([, one], [, other]) => other.written - one.written)
  const chats = found.slice(0, limit).map(([, log]) => summarized(log))
  const last = found[limit - 1]?.[1]
  return found.length > limit && last !== undefined ? { chats, next: String(last.written) } : { chats }
}

const check = (id: string, log: Log | undefined, after: Appending["after"]): void => {
  const newest = log?.commits.length ?? 0
  if (after !== undefined && newest !== after) throw refused("store_conflict", id, newest)
}

/** The entry for a fork or a rewind. */
const stepAt = (id: string, { commits }: Log, seq: number | undefined): Commit => {
  const commit = seq === undefined ? undefined : commits[seq - 1]
  const reason: Refusal | undefined =
    commit === undefined && seq !== undefined ? "unknown_commit" : commit?.isStep === true ? undefined : "not_a_step"
  if (commit === undefined || reason !== undefined) throw refused(reason ?? "not_a_step", id, seq)
  return commit
}

const recordAt = (id: string, { commits }: Log, seq: number): Conversation => recordOf(id, backwards(commits, seq))

function* backwards(commits: ReadonlyArray<Commit>, seq: number): Generator<Commit, void> {
  for (let at = seq - 1; at >= 0; at--) {
    const commit = commits[at]
    if (commit !== undefined) yield commit
  }
}

/** Whether there is more than blobs (BLOB2). */
const isConversation = ({ commits, inbox }: Log): boolean => commits.length > 0 || inbox.size > 0

const runs = ({ record, inbox }: Log): boolean => record.running || record.tasks !== undefined || inbox.size > 0

const has = ({ record }: Log, search: string): boolean =>
  search === "" || record.thread.messages.some((message) => searched(message).includes(search))

const summarized = ({ record, inbox, createdAt, updatedAt }: Log): ChatSummary => {
  const [first] = record.version === undefined ? inbox.values() : []
  const summary = { ...summaryOf(record, { createdAt, updatedAt }), waiting: inbox.size }
  return first === undefined ? summary : { ...summary, title: summaryOf(begun(record, first), summary).title }
}

/** The record as if the input was in its thread. */
const begun = (record: Conversation, { message }: InboxEntry): Conversation => ({
  ...record,
  thread: { messages: [message] }
})

const cursorOf = (after: string): number | undefined => (/^\d{1,15}$/.test(after) ? Number(after) : undefined)

/** How long a blob may wait for the entry or the input that names it, in milliseconds: an hour. */
const blobWaitMs = 3_600_000

/** The blobs of one conversation: copies of their bytes, and when each was stored. The entries and inputs that name them are elsewhere. */
class MemoryBlobs {
  readonly #kept = new Map<string, { readonly bytes: Uint8Array; storedAt: number; isNamed: boolean }>()

  /** BLOB1 */
  put(id: string, bytes: Uint8Array, now: number): void {
    const blobs = this.#kept.get(id)
    if (blobs === undefined) this.#kept.set(id, { bytes: Uint8Array.from(bytes), storedAt: now, isNamed: false })
    else blobs.storedAt = now
  }

  get(id: string): Uint8Array | undefined {
    return this.#kept.get(id)?.bytes
  }

  get size(): number {
    let sum = 0
    for (const { bytes } of this.#kept.values()) sum += bytes.byteLength
    return sum
  }

  /** The blobs that these values name. BLOB3 */
  namedBy(values: unknown, now: number): MemoryBlobs {
    const found = new MemoryBlobs()
    if (this.#kept.size === 0) return found
    const text = textOf(values)
    for (const [id, { bytes }] of this.#kept) if (text.includes(id)) found.put(id, bytes, now)
    return found
  }

  /** Removes the blobs that nothing named in time. `entries` and `inputs` return what can name them. BLOB5 */
  collect(now: number, entries: () => unknown, inputs: () => unknown): void {
    const due = Array.from(this.#kept).filter(([, kept]) => !kept.isNamed && kept.storedAt < now - blobWaitMs)
    if (due.length === 0) return
    const [inEntries, inInputs] = [textOf(entries()), textOf(inputs())]
    for (const [id, kept] of due) {
      kept.isNamed = inEntries.includes(id)
      if (!kept.isNamed && !inInputs.includes(id)) this.#kept.delete(id)
    }
  }
}

/** The JSON of a record, which may have integers of any size. */
const textOf = (values: unknown): string =>
  JSON.stringify(values, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value))
