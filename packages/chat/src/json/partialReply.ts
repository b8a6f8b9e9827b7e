/** A reply that streams, with the object that its text has so far. */
import { PartialJson } from "./partialJson.ts"

/**
 * A reply so far. `reasoning` is absent until there is some; `object` is the value of the text so far, if it is read as JSON.
 */
export interface PartialReply {
  readonly text: string
  readonly reasoning?: string
  readonly object?: unknown
}

/** The reader of the newest text; the next text takes it over. */
const readers = new WeakMap<PartialReply, PartialJson>()

/** The reply with its object. Reads only what was added to the text before. */
export const withObject = (before: PartialReply | undefined, reply: Omit<PartialReply, "object">): PartialReply => {
  const taken = before === undefined ? undefined : readers.get(before)
  if (before !== undefined && taken !== undefined) {
    if (before.text === reply.text && before.reasoning === reply.reasoning) return before
    readers.delete(before)
  }
  const continues = before !== undefined && taken !== undefined && reply.text.startsWith(before.text)
  const reader = continues ? taken : new PartialJson()
  reader.push(continues ? reply.text.slice(before.text.length) : reply.text)
  const object = reader.value
  const after: PartialReply = object === undefined ? { ...reply } : { ...reply, object }
  readers.set(after, reader)
  return after
}
