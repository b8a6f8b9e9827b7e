/** The sequence of an adapter's events, which yields one event or several at once. */
import { Channel } from "@troupe/otp"
import type { AdapterEvent } from "../events/index.ts"

/** One event, or several in their order. */
export type Yielded = AdapterEvent | ReadonlyArray<AdapterEvent>

/** The sequence that an adapter returns. Each element is an event, or an array of events that are ready at once. */
export type AdapterStream = AsyncIterable<Yielded>

/** Whether an element is an array of events. */
export const isSeveral = (yielded: Yielded): yielded is ReadonlyArray<AdapterEvent> => Array.isArray(yielded)

/**
 * The events of an adapter's sequence, one by one.
 *
 * **When to use**: in an adapter that wraps another adapter, and in tests of an adapter.
 *
 * **Details**: the sequence is pulled only when an event is requested and none is left of an array. `return` is passed on.
 */
export const eventsOf = (stream: AdapterStream): AsyncIterable<AdapterEvent> => ({
  [Symbol.asyncIterator]: () => {
    const iterator = stream[Symbol.asyncIterator]()
    let isPulling = false
    const pull = (): void => {
      if (isPulling) return
      isPulling = true
      iterator.next().then(onResult, (error: unknown) => events.fail(error))
    }
    const onResult = (result: IteratorResult<Yielded>): void => {
      isPulling = false
      if (result.done === true) return events.end()
      if (isSeveral(result.value)) for (const event of result.value) events.push(event)
      else events.push(result.value)
      if (events.isAwaited) pull()
    }
    const events = new Channel.Channel<AdapterEvent>({ onDemand: pull, onReturn: () => iterator.return?.() })
    return events
  }
})
