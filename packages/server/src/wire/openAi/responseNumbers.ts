/**
 * The sequence numbers of the events of a response's stream.
 *
 * Owns: the place in the stream. Does not own the events.
 *
 * RESPSEQ1. The number of an event is its place in the stream: a fragment has as many places as its characters, any other event
 *           has one. So a number means the same in every stream of the response, however fragments are merged.
 * RESPSEQ2. A stream that starts after a number has every event behind that place once: of a fragment across it, only the
 *           rest.
 */
import type { ResponseEvent } from "./outputItems.ts"

export type NumberedEvent = ResponseEvent & { readonly sequence_number: number }

export class ResponseNumbers {
  #after: number
  #at = -1

  /** `after` is the number of the last event that the client has; -1 for none. */
  constructor(after = -1) {
    this.#after = after
  }

  /** Numbers the next events, and leaves out those that the client has. */
  next(events: ReadonlyArray<ResponseEvent>): ReadonlyArray<NumberedEvent> {
    return events.flatMap((event) => {
      const before = this.#at
      const delta = fragmentOf(event)
      this.#at += delta?.length ?? 1
      if (this.#at <= this.#after) return []
      const numbered = { ...event, sequence_number: this.#at }
      return [
        delta === undefined || before >= this.#after
          ? numbered
          : { ...numbered, delta: delta.slice(this.#after - before) }
      ]
    })
  }

  /** The events are given again from the beginning of the stream: the client has those up to here. */
  restart(): void {
    this.#after = Math.max(this.#after, this.#at)
    this.#at = -1
  }
}

/** The characters of a fragment. */
const fragmentOf = ({ type, ...fields }: ResponseEvent): string | undefined => {
  const { delta } = fields
  return type.endsWith(".delta") && typeof delta === "string" ? delta : undefined
}
