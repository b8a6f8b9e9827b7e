/** What a store has, as the checker reads it. */
import type { Conversation, Store } from "@troupe/chat/store"
import { postgres, sqlite } from "@troupe/store"

/** An entry of a log. `writer` and `epoch` are known of the logs of a cluster. */
export interface Entry {
  readonly seq: number
  /** Whether the store returns the record of this entry. */
  readonly isRecord?: boolean
  readonly writer?: string
  readonly epoch?: number | undefined
}

/** The conversations, and their logs, by id. */
export interface Kept {
  readonly records: ReadonlyMap<string, Conversation>
  readonly logs: ReadonlyMap<string, ReadonlyArray<Entry>>
}

export const nothing: Kept = { records: new Map(), logs: new Map() }

/** Opens the store of a file, or of the address of a server. */
export const openStore = (database: string): Store.SessionStore =>
  database.startsWith("postgres:") ? postgres(database) : sqlite(database)

/** All conversations of a store. Of the logs only the entries are read that an earlier reading does not have. */
export const keptOf = async (store: Store.SessionStore, former: Kept = nothing): Promise<Kept> => {
  const records = await recordsOf(store)
  const logs = new Map<string, ReadonlyArray<Entry>>()
  for (const { id, version = 0 } of records.values()) {
    const log = [...(former.logs.get(id) ?? [])]
    for (let after = log.at(-1)?.seq ?? 0; after < version; after = log.at(-1)?.seq ?? 0) {
      const entries = await store.history(id, { after })
      if (entries.length === 0) break
      for (const { seq } of entries) log.push({ seq, isRecord: (await store.at(id, seq))?.version === seq })
    }
    logs.set(id, log)
  }
  return { records, logs }
}

/** All conversations of a store, also those of sub-agents. */
export const recordsOf = async (store: Store.SessionStore): Promise<ReadonlyMap<string, Conversation>> => {
  const records = new Map<string, Conversation>()
  for await (const id of idsOf((after) => store.list({ after, children: true }))) {
    const record = await store.load(id)
    if (record !== undefined) records.set(id, record)
  }
  return records
}

/** The ids of a list of conversations, page after page. */
export async function* idsOf(
  list: (after: string | undefined) => Store.ChatList | PromiseLike<Store.ChatList>
): AsyncGenerator<string, void> {
  let after: string | undefined
  do {
    const { chats, next } = await list(after)
    for (const { id } of chats) yield id
    after = next
  } while (after !== undefined)
}
