/**
 * How an entry is written: its body without the lists, and each item of a list by itself.
 *
 * FORM1. Writing costs what the entry adds, not what the record has.
 * FORM2. What is read is a record, or refused as corrupt.
 */
import { Codec, Store } from "@troupe/chat"

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

/** Reads an entry. */
export const commitOf = ({ body, messages, known }: WrittenEntry): Store.Commit => {
  const { known: place, ...rest } = JSON.parse(body) as Body
  const entry = { ...rest, messages: parsed(messages) }
  return Codec.fromJson(
    "Commit",
    place === undefined ? entry : { ...entry, known: { kept: place.kept, added: parsed(known) } }
  )
}

/** Reads a record: that of an entry whose lists are given whole. */
export const recordOf = (id: string, { body, messages, known }: WrittenEntry): ReturnType<typeof Store.recordOf> => {
  const { known: place, ...rest } = JSON.parse(body) as Body
  const entry = { ...rest, kept: 0, messages: parsed(messages) }
  const whole = place === undefined ? entry : { ...entry, known: { kept: 0, added: parsed(known) } }
  return Store.recordOf(id, [Codec.fromJson("Commit", whole)])
}
