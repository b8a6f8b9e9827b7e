/**
 * The late writes of each chat, and the calls that restore the last requested state after them.
 *
 * Owns: for each chat with a late write, how many there are, and the writes stored since. Does not own the operations
 * (`storeServer.ts`).
 *
 * LATE1. The newest save or delete that was stored meanwhile is repeated, with the ids of all inputs taken meanwhile. So a
 *        late `accept` of an input that was taken leaves nothing behind.
 * LATE2. An input that was accepted meanwhile and not taken is accepted again, after a late delete may have removed it. An
 *        input that was taken is never accepted again.
 * STORE4. When a late write settles, the newest write stored meanwhile is repeated, and so are the inputs accepted
 *         meanwhile: in the end the store has the last requested state.
 */
import { type AcceptCall, idOf, type StoreCall } from "./storeCall.ts"

/** The late writes of a chat, and what was stored since. */
export interface Late {
  count: number
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
  begun(id: string): Late {
    const late = this.#chats.get(id) ?? { count: 0, newest: undefined, taken: new Set(), accepted: new Map() }
    late.count += 1
    this.#chats.set(id, late)
    return late
  }

  /** Notes that a late write of the chat has settled; returns the calls to repeat. */
  settled(id: string, late: Late): ReadonlyArray<StoreCall> {
    late.count -= 1
    if (late.count === 0) this.#chats.delete(id)
    return repeated(late)
  }

  /** Notes a stored write, which is newer than the late ones of its chat. */
  stored(call: StoreCall): void {
    const late = this.#chats.size === 0 ? undefined : this.#chats.get(idOf(call))
    if (late === undefined) return
    if (call.type === "accept") {
      late.accepted.set(call.input.id, call)
      late.taken.delete(call.input.id)
    } else if (call.type === "save") {
      late.newest = call
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

/** LATE1, LATE2 */
const repeated = ({ newest, taken, accepted }: Late): ReadonlyArray<StoreCall> => {
  const first = newest?.type === "save" && newest.takes !== undefined ? { ...newest, takes: Array.from(taken) } : newest
  return first === undefined ? Array.from(accepted.values()) : [first, ...accepted.values()]
}
