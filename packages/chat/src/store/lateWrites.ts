/**
 * The late writes of each chat, and the calls that restore the last requested state after them. A store with a log refuses late entries,
 * which follow a record that is no longer the newest.
 *
 * Owns: for each chat with a late write, how many there are, and the writes stored since. Does not own the operations
 * (`storeServer.ts`).
 *
 * LATE1. The rows of the inputs taken meanwhile are removed again, so that a late `accept` of such an input leaves nothing behind. A
 *        store without a log then has the newest record again.
 * LATE2. After a late delete the newest record stored meanwhile is stored again, and an input that was accepted meanwhile and not
 *        taken is accepted again. An input that was taken is never accepted again.
 * STORE4. When a late write settles, LATE1 and LATE2 restore what was stored meanwhile: in the end the store has the last requested
 *         state.
 */
import { saved } from "../record/index.ts"
import type { Conversation } from "../record/index.ts"
import { type AcceptCall, idOf, type StoreCall } from "./storeCall.ts"

/** The late writes of a chat, and what was stored since. */
export interface Late {
  count: number
  type: StoreCall["type"]
  newest: StoreCall | undefined
  readonly taken: Set<string>
  readonly accepted: Map<string, AcceptCall>
}

export class LateWrites {
  readonly #chats = new Map<string, Late>()

  /** The chats with a late write. */
  get ids(): Iterable<string> {
    return this.#chats.keys()
  }

  /** Notes that a write of the chat is late. */
  begun(call: StoreCall): Late {
    const id = idOf(call)
    const fresh = { count: 0, type: call.type, newest: undefined, taken: new Set<string>(), accepted: new Map() }
    const late = this.#chats.get(id) ?? fresh
    late.count += 1
    if (call.type === "delete" || late.type !== "delete") late.type = call.type
    this.#chats.set(id, late)
    return late
  }

  /** Notes that a late write of the chat has settled; returns the calls to repeat. */
  settled(id: string, late: Late): ReadonlyArray<StoreCall> {
    late.count -= 1
    if (late.count === 0) this.#chats.delete(id)
    return repeated(id, late)
  }

  /** Notes a stored write and its value, which is newer than the late ones of its chat. */
  stored(call: StoreCall, value: unknown): void {
    const late = this.#chats.size === 0 ? undefined : this.#chats.get(idOf(call))
    if (late === undefined) return
    if (call.type === "accept") {
      late.accepted.set(call.input.id, call)
      late.taken.delete(call.input.id)
    } else if (call.type === "append") {
      const record = value as Conversation | undefined
      if (record?.thread !== undefined) late.newest = { ...call, entries: [saved(record)], ...unconditional }
      for (const id of call.takes ?? []) {
        late.taken.add(id)
        late.accepted.delete(id)
      }
    } else if (call.type === "delete") {
      late.newest = call
      late.taken.clear()
      late.accepted.clear()
    } else if (call.type === "rewind") late.newest = undefined
  }
}

const unconditional = { after: undefined, record: undefined, takes: undefined }

/** LATE1, LATE2 */
const repeated = (id: string, { newest, type, taken, accepted }: Late): ReadonlyArray<StoreCall> => {
  const isWhole = newest !== undefined && (type === "delete" || newest.type === "delete")
  const isNeeded = taken.size > 0 || (type === "append" && newest !== undefined)
  const takes: StoreCall = { type: "append", id, entries: [], takes: Array.from(taken) }
  return [...(isWhole ? [newest] : isNeeded ? [takes] : []), ...accepted.values()]
}
