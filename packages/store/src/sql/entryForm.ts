/**
 * Encodes and decodes entries: the body without the lists, and each item of a list separately.
 *
 * ROWS1. A write costs the added items, not the whole record.
 * ROWS2. A read returns a record, or fails as corrupt, also when an item is missing.
 */
import { type ChatRecord, Codec, Store } from "@troupe/chat/store"
import { StoreError } from "./StoreError.ts"
import { lists } from "./dialect.ts"
import { numberIn, type Row, textIn } from "./query.ts"

/** A waiting input. */
export type Input = NonNullable<ChatRecord["inbox"]>[number]

/** An encoded entry. */
export interface WrittenEntry {
  readonly body: string
  readonly messages: ReadonlyArray<string>
  readonly known: ReadonlyArray<string>
}

/** The rows of an entry: its body, and its items in the order of their places. */
export interface ReadEntry {
  readonly body: string
  readonly items: ReadonlyArray<Row>
}

/**
 * The number of items that a list keeps of the previous entry, and the number added; older versions lack these fields.
 */
interface Place {
  readonly kept: number
  readonly added?: number
}

interface Body {
  readonly kept: number
  readonly messages?: number
  readonly known?: Place
}

interface Whole {
  readonly messages: ReadonlyArray<unknown>
  readonly known?: { readonly kept: number; readonly added: ReadonlyArray<string> }
}

/** Encodes an entry. **Errors**: throws a `ValidationError` (`unencodable`). */
export const written = (commit: Store.Commit): WrittenEntry => {
  const { messages, known, ...rest } = Codec.toJson("Commit", commit).data as unknown as Whole
  const body = { ...rest, messages: messages.length }
  return {
    body: JSON.stringify(
      known === undefined ? body : { ...body, known: { kept: known.kept, added: known.added.length } }
    ),
    messages: messages.map((message) => JSON.stringify(message)),
    known: (known?.added ?? []).map((id) => JSON.stringify(id))
  }
}

/** The items of a list: those that an entry added, or all of its record. */
const itemsOf = (
  rows: ReadonlyArray<Row>,
  list: number,
  { kept, added }: Place,
  of: "entry" | "record"
): ReadonlyArray<unknown> => {
  const items: Array<unknown> = []
  const first = of === "entry" ? kept : 0
  for (const row of rows) {
    if (numberIn(row, "list") !== list) continue
    if (numberIn(row, "position") !== first + items.length) throw lost(first + items.length)
    items.push(JSON.parse(textIn(row, "body")))
  }
  const end = first + items.length
  if (added === undefined ? end < kept : end !== kept + added) throw lost(end)
  return items
}

const lost = (position: number): RangeError => new RangeError(`The item ${position} is missing`)

/** The source of a read, for the error about corruption. */
export interface Origin {
  readonly database: string
  readonly id: string
}

/** The error for damaged or missing data. */
export const damaged = ({ database, id }: Origin, cause?: unknown): StoreError => {
  const what = `What ${database} has of the chat ${id} is no record`
  return new StoreError("corrupt", database, `${what}; delete the chat, or put a backup in its place`, { cause })
}

/** ROWS2 */
const whole = <A>(origin: Origin, read: () => A): A => {
  try {
    return read()
  } catch (cause) {
    throw damaged(origin, cause)
  }
}

/** Decodes an entry. **Errors**: throws a `StoreError` (`corrupt`). */
export const commitOf = (origin: Origin, { body, items }: ReadEntry): Store.Commit =>
  whole(origin, () => {
    const { messages: added, known, ...rest } = JSON.parse(body) as Body
    const messages = itemsOf(items, lists.messages, placeOf(rest.kept, added), "entry")
    return Codec.fromJson(
      "Commit",
      known === undefined
        ? { ...rest, messages }
        : { ...rest, messages, known: { kept: known.kept, added: itemsOf(items, lists.known, known, "entry") } }
    )
  })

/** Decodes an entry without its lists. **Errors**: as {@link commitOf}. */
export const stateOf = (origin: Origin, body: string): Store.Commit["state"] =>
  whole(origin, () => {
    const { messages: _, known: __, ...rest } = JSON.parse(body) as Body
    return Codec.fromJson("Commit", { ...rest, messages: [] }).state
  })

/** Decodes the record of an entry with complete lists. **Errors**: as {@link commitOf}. */
export const recordOf = (origin: Origin, { body, items }: ReadEntry): ChatRecord =>
  whole(origin, () => {
    const { messages: added, known, ...rest } = JSON.parse(body) as Body
    const messages = itemsOf(items, lists.messages, placeOf(rest.kept, added), "record")
    const entry = { ...rest, kept: 0, messages }
    const commit =
      known === undefined
        ? entry
        : { ...entry, known: { kept: 0, added: itemsOf(items, lists.known, known, "record") } }
    return Store.recordOf(origin.id, [Codec.fromJson("Commit", commit)])
  })

const placeOf = (kept: number, added: number | undefined): Place => (added === undefined ? { kept } : { kept, added })

/** A record with this inbox, for the form of its inputs. */
const holding = (inbox: ChatRecord["inbox"]): ChatRecord => ({ ...Store.blank(""), inbox })

/** Encodes a waiting input. **Errors**: throws a `ValidationError` (`unencodable`). */
export const writtenInput = (input: Input): string => {
  const { inbox } = Codec.toJson("ChatRecord", holding([input])).data as unknown as { readonly inbox: [unknown] }
  return JSON.stringify(inbox[0])
}

const holdingNone = Codec.toJson("ChatRecord", Store.blank("")).data as Readonly<Record<string, unknown>>

/** Decodes a waiting input. **Errors**: as {@link commitOf}. */
export const inputOf = (origin: Origin, body: string): Input =>
  whole(origin, () => {
    const inbox: unknown = [JSON.parse(body)]
    const [input] = Codec.fromJson("ChatRecord", { ...holdingNone, inbox }).inbox ?? []
    if (input === undefined) throw new RangeError("The input is missing")
    return input
  })

/** Decodes the text of an unfinished reply. **Errors**: as {@link commitOf}. */
export const draftOf = (origin: Origin, body: string): string => whole(origin, () => String(JSON.parse(body)))

/**
 * The text of a stored message that a search matches; empty for a damaged message, whose conversation fails to load.
 */
export const searchedText = (body: string): string => {
  try {
    return Store.searched(Codec.fromJson("Message", JSON.parse(body)))
  } catch {
    return ""
  }
}
