/**
 * How an entry is written: its body without the lists, and each item of a list by itself.
 *
 * FORM1. Writing costs what the entry adds, not what the record has.
 * FORM2. What is read is a record, or refused as corrupt.
 */
import { type ChatRecord, Codec, Store } from "@troupe/chat"
import { StoreError } from "../StoreError.ts"

/** An entry as it is kept. */
export interface WrittenEntry {
  readonly body: string
  readonly messages: ReadonlyArray<string>
  readonly known: ReadonlyArray<string>
}

interface Body {
  readonly known?: { readonly kept: number }
}

interface Whole extends Body {
  readonly messages: ReadonlyArray<unknown>
  readonly known?: { readonly kept: number; readonly added: ReadonlyArray<string> }
}

/** Writes an entry. **Errors**: throws a `ValidationError` (`unencodable`). */
export const written = (commit: Store.Commit): WrittenEntry => {
  const { messages, known, ...body } = Codec.toJson("Commit", commit).data as unknown as Whole
  return {
    body: JSON.stringify(known === undefined ? body : { ...body, known: { kept: known.kept } }),
    messages: messages.map((message) => JSON.stringify(message)),
    known: (known?.added ?? []).map((id) => JSON.stringify(id))
  }
}

const parsed = (texts: ReadonlyArray<string>): ReadonlyArray<unknown> =>
  texts.map((text) => JSON.parse(text) as unknown)

/** Where something was read, for the error that says it is damaged. */
export interface Origin {
  readonly database: string
  readonly id: string
}

/** FORM2 */
const whole = <A>({ database, id }: Origin, read: () => A): A => {
  try {
    return read()
  } catch (cause) {
    const what = `What ${database} has of the chat ${id} is no record`
    throw new StoreError("corrupt", database, `${what}; delete the chat, or put a backup in its place`, { cause })
  }
}

/** Reads an entry. **Errors**: throws a `StoreError` (`corrupt`). */
export const commitOf = (origin: Origin, { body, messages, known }: WrittenEntry): Store.Commit =>
  whole(origin, () => {
    const { known: place, ...rest } = JSON.parse(body) as Body
    const entry = { ...rest, messages: parsed(messages) }
    return Codec.fromJson(
      "Commit",
      place === undefined ? entry : { ...entry, known: { kept: place.kept, added: parsed(known) } }
    )
  })

/** Reads a record: that of an entry whose lists are given whole. **Errors**: as {@link commitOf}. */
export const recordOf = (origin: Origin, { body, messages, known }: WrittenEntry): ChatRecord.ChatRecord =>
  whole(origin, () => {
    const { known: place, ...rest } = JSON.parse(body) as Body
    const entry = { ...rest, kept: 0, messages: parsed(messages) }
    const commit = place === undefined ? entry : { ...entry, known: { kept: 0, added: parsed(known) } }
    return Store.recordOf(origin.id, [Codec.fromJson("Commit", commit)])
  })

/** Reads what a reply had said. **Errors**: as {@link commitOf}. */
export const draftOf = (origin: Origin, body: string): string => whole(origin, () => String(JSON.parse(body)))

/** What a search looks at in a message that was written: nothing in one that is damaged, which its conversation is refused for. */
export const searchedText = (body: string): string => {
  try {
    return Store.searched(Codec.fromJson("Message", JSON.parse(body)))
  } catch {
    return ""
  }
}
