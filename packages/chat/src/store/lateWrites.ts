/**
 * The late writes of each chat, and the calls that restore the last requested state after them. A store with a log refuses late entries
 * that follow a record which is no longer the newest; before that they are stored, and take the rows of their inputs.
 *
 * Owns: for each chat with a late write, how many there are, and the writes stored since. Does not own the operations
 * (`storeServer.ts`).
 *
 * LATE1. The rows of the inputs taken meanwhile are removed again, so that a late `accept` of such an input leaves nothing behind. A
 *        store without a log then has the newest record again. An input whose late `accept` was asked for after it was taken keeps its
 *        row: its chat has put it back.
 * LATE2. After a late delete the newest record stored meanwhile is stored again. After any late write, which may have taken its row, an
 *        input that was accepted meanwhile and not taken is accepted again. An input that was taken, or may have been, is never accepted
 *        again.
 * STORE4. When a late write settles, LATE1 and LATE2 restore what was stored meanwhile: in the end the store has the last requested
 *         state.
 */
import { saved } from "../record/index.ts"
import type { Conversation } from "../record/index.ts"
import { type AcceptCall, idOf, type StoreCall } from "./storeCall.ts"

/** What was asked for last about the row of an input, and the place of that call among those of the chat. */
interface RowWrite {
  readonly order: number
  readonly write: AcceptCall | "taken" | "unknown"
}

/** The late writes of a chat, and what was stored since. */
export interface Late {
  count: number
  type: StoreCall["type"]
  newest: StoreCall | undefined
  readonly rows: Map<string, RowWrite>
}

export class LateWrites {
  readonly #chats = new Map<string, Late>()
  /** How many calls began; the number of a call is its order. */
  begins = 0

  /** The chats with a late write. */
  get ids(): Iterable<string> {
    return this.#chats.keys()
  }

  /** Notes that a write of the chat is late. */
  begun(call: StoreCall, order: number): Late {
    const id = idOf(call)
    const late = this.#chats.get(id) ?? { count: 0, type: call.type, newest: undefined, rows: new Map() }
    late.count += 1
    if (call.type === "delete" || late.type !== "delete") late.type = call.type
    if (call.type === "accept") note(late, call.input.id, { order, write: "unknown" })
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
  stored(call: StoreCall, value: unknown, order: number): void {
    const late = this.#chats.size === 0 ? undefined : this.#chats.get(idOf(call))
    if (late === undefined) return
    if (call.type === "accept") note(late, call.input.id, { order, write: call })
    else if (call.type === "append") {
      const record = value as Conversation | undefined
      if (record?.thread !== undefined) late.newest = { ...call, entries: [saved(record)], ...unconditional }
      for (const id of call.takes ?? []) note(late, id, { order, write: "taken" })
    } else if (call.type === "delete") {
      late.newest = call
      late.rows.clear()
    } else if (call.type === "rewind") late.newest = undefined
  }

  /** Notes a write that was answered with an error: the store may have done it, so that the rows of its inputs are not stored again. */
  failed(call: StoreCall, order: number): void {
    const late = this.#chats.size === 0 ? undefined : this.#chats.get(idOf(call))
    if (late !== undefined && call.type === "append")
      for (const id of call.takes ?? []) note(late, id, { order, write: "unknown" })
  }
}

const note = ({ rows }: Late, id: string, row: RowWrite): void => {
  const before = rows.get(id)
  if (before === undefined || before.order < row.order) rows.set(id, row)
}

const unconditional = { after: undefined, record: undefined, takes: undefined }

/** LATE1, LATE2 */
const repeated = (id: string, { newest, type, rows }: Late): ReadonlyArray<StoreCall> => {
  const taken = Array.from(rows).flatMap(([input, { write }]) => (write === "taken" ? [input] : []))
  const accepted = Array.from(rows.values()).flatMap(({ write }) => (typeof write === "object" ? [write] : []))
  const isWhole = newest !== undefined && (type === "delete" || newest.type === "delete")
  const isNeeded = taken.length > 0 || (type === "append" && newest !== undefined)
  const takes: StoreCall = { type: "append", id, entries: [], takes: taken }
  return [...(isWhole ? [newest] : isNeeded ? [takes] : []), ...accepted]
}
