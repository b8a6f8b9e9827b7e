/** An adapter that speaks a script of events, and counts what is asked of it and let go of. */
import type { Adapter } from "../../src/adapter/Adapter.ts"
import type { AdapterEvent } from "../../src/events/Event.ts"

type Next = IteratorResult<AdapterEvent, undefined>

/** One open request. */
interface CountedStream {
  /** How many events were asked for. */
  readonly pulled: number
  /** How often it was let go of: read to its end, or returned before that. */
  readonly released: number
  /** How often it was returned. */
  readonly returned: number
  readonly aborted: boolean
}

export interface CountedAdapter extends Adapter {
  readonly streams: ReadonlyArray<CountedStream>
}

/** What a request is answered with; `"hang"` waits for ever. */
export type Spoken = Iterable<AdapterEvent | "hang">

/** Answers the requests in order, each with what is spoken next, and further ones with the last. */
export const countedAdapter = (...spoken: ReadonlyArray<Spoken>): CountedAdapter => {
  const streams: Array<CountedStream> = []
  return {
    name: "counted",
    streams,
    stream: (_request, { signal }) => {
      const lines = (spoken[streams.length] ?? spoken.at(-1) ?? [])[Symbol.iterator]()
      let pulled = 0
      let released = 0
      let returned = 0
      let over = false
      streams.push({
        get pulled() {
          return pulled
        },
        get released() {
          return released
        },
        get returned() {
          return returned
        },
        get aborted() {
          return signal.aborted
        }
      })
      const next = (): Promise<Next> => {
        pulled++
        const line = over ? undefined : lines.next()
        if (line?.value === "hang") return new Promise(() => {})
        if (line !== undefined && line.done !== true) return Promise.resolve({ done: false, value: line.value })
        if (!over) released++
        over = true
        return Promise.resolve({ done: true, value: undefined })
      }
      const leave = (): Promise<Next> => {
        returned++
        if (!over) released++
        over = true
        return Promise.resolve({ done: true, value: undefined })
      }
      return { [Symbol.asyncIterator]: () => ({ next, return: leave }) }
    }
  }
}

/** A fragment of the answer. */
export const saying = (delta: string): AdapterEvent => ({ type: "text_delta", id: null, delta })

/** First and last of every answer. */
export const begins: AdapterEvent = { type: "message_started", message: { role: "assistant", content: "" } }
export const ends: AdapterEvent = {
  type: "message_completed",
  message: { role: "assistant", content: "" },
  finishReason: "stop"
}
export const endsCalling: AdapterEvent = { ...ends, finishReason: "tool_calls" }

/** A call of a tool, without arguments. */
export const calling = (id: string, name: string): AdapterEvent => ({
  type: "tool_call_completed",
  id,
  name,
  arguments: {},
  rawArguments: "{}"
})
