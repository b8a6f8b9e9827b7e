/** The text of a reply that streams, with the object that it has so far. */
import { PartialJson } from "./partialJson.ts"

/** A text, and the value of its JSON so far if it is read as JSON. */
export interface PartialText {
  readonly text: string
  readonly object?: unknown
}

/** The reader of the newest text; the next text takes it over. */
const readers = new WeakMap<PartialText, PartialJson>()

/** The text with its object. Reads only what was added to the text before. */
export const withObject = (before: PartialText | undefined, text: string): PartialText => {
  const taken = before === undefined ? undefined : readers.get(before)
  if (before !== undefined && taken !== undefined) {
    if (before.text === text) return before
    readers.delete(before)
  }
  const continues = before !== undefined && taken !== undefined && text.startsWith(before.text)
  const reader = continues ? taken : new PartialJson()
  reader.push(continues ? text.slice(before.text.length) : text)
  const object = reader.value
  const after: PartialText = object === undefined ? { text } : { text, object }
  readers.set(after, reader)
  return after
}
