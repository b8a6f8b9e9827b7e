/** An adapter whose every event the test says by hand. */
import type { Adapter, AdapterOptions } from "../../src/adapter/Adapter.ts"
import type { AdapterEvent } from "../../src/events/Event.ts"
import type { Request } from "../../src/model/Request.ts"
import type { FinishReason } from "../../src/model/Response.ts"

type Next = IteratorResult<AdapterEvent, undefined>

const rejected = async (error: unknown): Promise<Next> => {
  throw error
}

/** One open request. */
interface HandStream {
  readonly request: Request
  readonly options: AdapterOptions
  readonly say: (...events: ReadonlyArray<AdapterEvent>) => void
  readonly text: (delta: string) => void
  readonly finish: (reason: FinishReason) => void
  readonly end: () => void
  readonly fail: (error: unknown) => void
  /** How often the reader asked. */
  readonly pulls: number
  /** How often `return` was called. */
  readonly returns: number
}

export interface HandAdapter extends Adapter {
  readonly streams: ReadonlyArray<HandStream>
}

/** Makes one; with `slowRelease` the iterator's `return` waits for it. */
export const handAdapter = (options: { readonly slowRelease?: Promise<void> } = {}): HandAdapter => {
  const streams: Array<HandStream> = []
  return {
    name: "hand",
    streams,
    stream: (request, adapterOptions) => {
      const waiting: Array<() => Promise<Next>> = []
      const readers: Array<(next: Promise<Next>) => void> = []
      let pulls = 0
      let returns = 0
      const answer = (next: () => Promise<Next>) => {
        const reader = readers.shift()
        if (reader === undefined) waiting.push(next)
        else reader(next())
      }
      const say = (...events: ReadonlyArray<AdapterEvent>) => {
        for (const value of events) answer(() => Promise.resolve({ done: false, value }))
      }
      const end = () => answer(() => Promise.resolve({ done: true, value: undefined }))
      streams.push({
        request,
        options: adapterOptions,
        say,
        text: (delta) => say({ type: "text_delta", id: null, delta }),
        finish: (finishReason) => {
          say({ type: "message_completed", message: { role: "assistant", content: "" }, finishReason })
          end()
        },
        end,
        fail: (error) => answer(() => rejected(error)),
        get pulls() {
          return pulls
        },
        get returns() {
          return returns
        }
      })
      return {
        [Symbol.asyncIterator]: () => ({
          next: () => {
            pulls++
            const next = waiting.shift()
            return next === undefined ? new Promise<Next>((resolve) => readers.push(resolve)) : next()
          },
          return: async () => {
            returns++
            await options.slowRelease
            return { done: true, value: undefined }
          }
        })
      }
    }
  }
}
