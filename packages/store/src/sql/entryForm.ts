/**
 * Encodes and decodes entries: the body without the lists, and each item of a list separately.
 *
 * ROWS1. A write costs the added items, not the whole record.
 * ROWS2. A read returns a record, or fails as corrupt, also when an item is missing.
 * ROWS3. The newest record of a long conversation is decoded in portions, and other tasks run in between.
 * ROWS4. The states of an open step's calls are encoded once for each different state, not once for each call.
 * ROWS5. A message is written once: the named entries of a body have the places of their messages among the added items. An entry
 *        without named entries is one of an earlier version, and reads as one `Saved`.
 */
import { setImmediate } from "node:timers/promises"
import type { Message } from "@troupe/chat/messages"
import { type Conversation, Codec, Store } from "@troupe/chat/store"
import { StoreError } from "./StoreError.ts"
import { lists } from "./dialect.ts"
import { numberIn, type Row, textIn } from "./query.ts"

/** A waiting input. */
export type Input = NonNullable<Conversation["inbox"]>[number]

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
  readonly entries?: ReadonlyArray<object>
  readonly places?: ReadonlyArray<ReadonlyArray<number> | null>
}

interface Whole {
  readonly messages: ReadonlyArray<unknown>
  readonly state: { readonly open?: { readonly calls: ReadonlyArray<unknown> } }
  readonly known?: { readonly kept: number; readonly added: ReadonlyArray<string> }
}

/** The query of the items of an entry's record; its parameters are the conversation, and the entry twice. */
export const itemsQuery = (prefix: string): string =>
  `SELECT list, position, body FROM ${prefix}items WHERE chat = ? AND seq <= ? AND (until IS NULL OR until > ?)
    ORDER BY list, position`

/** Encodes an entry. **Errors**: throws a `ValidationError` (`unencodable`). */
export const written = (commit: Store.Commit): WrittenEntry => {
  try {
    return writtenOnce(commit)
  } catch (cause) {
    // The findings of the whole entry name the paths of its calls.
    Codec.toJson("Commit", commit)
    throw cause
  }
}

/** ROWS4 */
const writtenOnce = (commit: Store.Commit): WrittenEntry => {
  const { different, order } = statesOf(commit.state.open?.calls ?? noCalls)
  const { entries, places } = placed(commit)
  const { messages, known, state, ...rest } = encoded({ ...commit, entries }, different)
  const body = JSON.stringify({
    ...rest,
    places,
    messages: messages.length,
    ...(known === undefined ? {} : { known: { kept: known.kept, added: known.added.length } })
  })
  return {
    body: withField(body, "state", stateText(state, order)),
    messages: messages.map((message) => JSON.stringify(message)),
    known: (known?.added ?? []).map((id) => JSON.stringify(id))
  }
}

/** The named entries, each without those messages that the commit adds, and the places of these (ROWS5). */
const placed = ({
  entries = [],
  messages: added
}: Store.Commit): Pick<Store.Commit, "entries"> & Pick<Body, "places"> => {
  if (entries.length === 1 && entries[0]?.type === "Saved") return {}
  const places = entries.map((entry) => {
    if (entry.type === "Saved" || !("messages" in entry)) return null
    const found = entry.messages.map((message) => added.indexOf(message))
    return found.includes(-1) ? null : found
  })
  const shorter = entries.map((entry, index) =>
    places[index] === null ? entry : Object.assign({}, entry, { messages: [] })
  )
  return { entries: shorter, places }
}

/** The state of a call of an open step. */
type CallState = NonNullable<Conversation["open"]>["calls"][number]

const noCalls: ReadonlyArray<CallState> = []

/** The different states of calls, and the index of each call's state among them. */
interface States {
  readonly different: ReadonlyArray<CallState>
  readonly order: ReadonlyArray<number>
}

/** States without further fields are the same when their names are. */
const statesOf = (calls: ReadonlyArray<CallState>): States => {
  const places = new Map<CallState | CallState["state"], number>()
  const different: Array<CallState> = []
  const order = calls.map((call) => {
    const same = isBare(call) ? call.state : call
    const place = places.get(same)
    if (place !== undefined) return place
    places.set(same, different.length)
    return different.push(call) - 1
  })
  return { different, order }
}

const isBare = (call: CallState): boolean => {
  for (const field in call) if (field !== "state") return false
  return true
}

/** The JSON value of an entry, with the different states in place of all (ROWS4). */
const encoded = (commit: Store.Commit, different: ReadonlyArray<CallState>): Whole => {
  const { open } = commit.state
  const short =
    open === undefined ? commit : { ...commit, state: { ...commit.state, open: { ...open, calls: different } } }
  return Codec.toJson("Commit", short).data as unknown as Whole
}

/** The JSON text of a state, with a state for each call again. */
const stateText = ({ open, ...state }: Whole["state"], order: ReadonlyArray<number>): string => {
  const body = JSON.stringify(state)
  if (open === undefined) return body
  const { calls, ...step } = open
  const texts = calls.map((call) => JSON.stringify(call))
  return withField(body, "open", withField(JSON.stringify(step), "calls", `[${order.map((at) => texts[at]).join()}]`))
}

/** The text of a JSON object that is not empty, with one more field. */
const withField = (object: string, name: string, value: string): string => `${object.slice(0, -1)},"${name}":${value}}`

/** The items of a list: those that an entry added, or all of its record. */
const itemsOf = (
  rows: ReadonlyArray<Row>,
  list: number,
  place: Place,
  of: "entry" | "record"
): ReadonlyArray<unknown> => textsOf(rows, list, place, of).map((text): unknown => JSON.parse(text))

/** The texts of the items of a list. */
const textsOf = (
  rows: ReadonlyArray<Row>,
  list: number,
  { kept, added }: Place,
  of: "entry" | "record"
): ReadonlyArray<string> => {
  const items: Array<string> = []
  const first = of === "entry" ? kept : 0
  for (const row of rows) {
    if (numberIn(row, "list") !== list) continue
    if (numberIn(row, "position") !== first + items.length) throw lost(first + items.length)
    items.push(textIn(row, "body"))
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
    const { messages: added, known, entries, places = [], ...rest } = JSON.parse(body) as Body
    const messages = itemsOf(items, lists.messages, placeOf(rest.kept, added), "entry")
    const filled = entries?.map((entry, index) => {
      const at = places[index] ?? undefined
      return at === undefined ? entry : { ...entry, messages: at.map((place) => messages[place]) }
    })
    const commit = Codec.fromJson("Commit", {
      ...rest,
      messages,
      ...(known !== undefined && {
        known: { kept: known.kept, added: itemsOf(items, lists.known, known, "entry") }
      }),
      ...(filled !== undefined && { entries: filled })
    })
    return filled === undefined ? { ...commit, entries: [savedBy(commit)] } : commit
  })

const savedBy = ({ kept, messages, known, metadata, compaction, state }: Store.Commit): Store.Entry => ({
  type: "Saved",
  kept,
  messages,
  ...(known !== undefined && { known }),
  ...(metadata !== undefined && { metadata }),
  ...(compaction !== undefined && { compaction }),
  state
})

/** Decodes an entry without its lists. **Errors**: as {@link commitOf}. */
export const stateOf = (origin: Origin, body: string): Store.Commit["state"] =>
  whole(origin, () => {
    const { messages: _, known: __, entries: ___, places: ____, ...rest } = JSON.parse(body) as Body
    return Codec.fromJson("Commit", { ...rest, messages: [] }).state
  })

/** How many messages are decoded at a time. */
const atOnce = 256

/** Decodes a record; yields between portions of its messages. */
function* decoding(id: string, { body, items }: ReadEntry): Generator<undefined, Conversation> {
  const { messages: added, known, entries: _, places: __, ...rest } = JSON.parse(body) as Body
  const texts = textsOf(items, lists.messages, placeOf(rest.kept, added), "record")
  const messages: Array<Message.Message> = []
  for (let at = 0; at < texts.length; at += atOnce) {
    if (at > 0) yield
    messages.push(...messagesOf(texts.slice(at, at + atOnce)))
  }
  const entry = { ...rest, kept: 0, messages: [] }
  const commit =
    known === undefined ? entry : { ...entry, known: { kept: 0, added: itemsOf(items, lists.known, known, "record") } }
  return Store.recordOf(id, [{ ...Codec.fromJson("Commit", commit), messages }])
}

const messagesOf = (texts: ReadonlyArray<string>): ReadonlyArray<Message.Message> => {
  const { messages } = Codec.decode("Thread", `{"messages":[${texts.join(",")}]}`)
  if (messages.length !== texts.length) throw new RangeError("An item is not one message")
  return messages
}

/** Decodes the record of an entry with complete lists. **Errors**: as {@link commitOf}. */
export const recordOf = (origin: Origin, entry: ReadEntry): Conversation =>
  whole(origin, () => {
    const portions = decoding(origin.id, entry)
    let portion = portions.next()
    while (portion.done !== true) portion = portions.next()
    return portion.value
  })

/** Decodes as {@link recordOf}, and yields to other tasks between portions of messages (ROWS3). */
export const recordInPortions = async (origin: Origin, entry: ReadEntry): Promise<Conversation> => {
  const portions = decoding(origin.id, entry)
  let portion = whole(origin, () => portions.next())
  while (portion.done !== true) {
    await setImmediate()
    portion = whole(origin, () => portions.next())
  }
  return portion.value
}

const placeOf = (kept: number, added: number | undefined): Place => (added === undefined ? { kept } : { kept, added })

/** A record with this inbox, for the form of its inputs. */
const holding = (inbox: Conversation["inbox"]): Conversation => ({ ...Store.blank(""), inbox })

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

/** Decodes a stored message. **Errors**: as {@link commitOf}. */
export const messageOf = (origin: Origin, body: string): Message.Message =>
  whole(origin, () => Codec.fromJson("Message", JSON.parse(body)))

/**
 * The text of a stored message that a search matches; empty for a damaged message, whose conversation fails to load.
 */
export const searchedText = (body: string): string => {
  try {
    return Store.Lists.searched(Codec.fromJson("Message", JSON.parse(body)))
  } catch {
    return ""
  }
}
