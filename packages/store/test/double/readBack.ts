/** What a store has of each conversation, without what differs between two runs: times, and ids that were chosen at random. */
import type { Store } from "@troupe/chat/store"

/** The members whose value two runs do not share. */
const ofOneRun = new Set(["askedAt", "createdAt", "updatedAt", "expiresAt", "version"])

const isUnnamed = (value: unknown): value is { readonly id: string } =>
  typeof value === "object" && value !== null && "whenBusy" in value && !("named" in value)

const comparable = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, member: unknown) => {
      if (isUnnamed(member)) return { ...member, id: undefined }
      return ofOneRun.has(key) && typeof member === "number" ? undefined : member
    })
  )

/** Every conversation: its record, and what each entry of its history added. */
export const readBack = async (store: Store.SessionStore): Promise<Readonly<Record<string, unknown>>> => {
  const { chats } = await store.list({ limit: 1_000 })
  const found: Record<string, unknown> = {}
  for (const { id, title, seq, messages, running } of chats.toSorted((one, other) => (one.id < other.id ? -1 : 1))) {
    const history = await store.history(id, { limit: 1_000 })
    found[id] = comparable({
      title,
      seq,
      messages,
      running,
      record: await store.load(id),
      history: history.map(({ kind, from, kept, messages: added, isStep }) => ({
        kind,
        from,
        kept,
        added: added.length,
        isStep
      }))
    })
  }
  return found
}
