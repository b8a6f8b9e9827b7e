/** A model whose every event the test says by hand. */
import type { AdapterEvent } from "@troupe/chat/events"
import type { Adapter, Response } from "@troupe/chat/models"

export interface HandModel {
  readonly adapter: Adapter.Adapter
  /** How many requests were opened, and how many of them were left. */
  readonly opened: number
  readonly left: number
  /** Resolves when so many requests were opened. */
  readonly whenOpened: (count: number) => Promise<void>
  readonly say: (...events: ReadonlyArray<AdapterEvent>) => void
  readonly text: (delta: string) => void
  /** Ends the newest request after what was said. */
  readonly end: () => void
  readonly finish: (reason: NonNullable<Response["finishReason"]>, text?: string) => void
}

interface Open {
  readonly waiting: Array<AdapterEvent>
  ended: boolean
  wake: () => void
}

/** What is said goes to the newest request. */
export const handModel = (): HandModel => {
  const requests: Array<Open> = []
  const watchers: Array<() => void> = []
  let left = 0
  const newest = (): Open => {
    const open = requests.at(-1)
    if (open === undefined) throw new Error("nobody has asked the model")
    return open
  }
  const say = (...events: ReadonlyArray<AdapterEvent>): void => {
    newest().waiting.push(...events)
    newest().wake()
  }
  async function* stream(signal: AbortSignal): AsyncGenerator<AdapterEvent, void> {
    const open: Open = { waiting: [], ended: false, wake: () => {} }
    requests.push(open)
    for (const watcher of watchers.splice(0)) watcher()
    try {
      yield { type: "message_started", message: { role: "assistant", content: "" } }
      for (;;) {
        const event = open.waiting.shift()
        if (event !== undefined) yield event
        else if (open.ended || signal.aborted) return
        else {
          await new Promise<void>((resolve) => {
            open.wake = resolve
            signal.addEventListener("abort", () => resolve(), { once: true })
          })
        }
      }
    } finally {
      left += 1
    }
  }
  return {
    adapter: { name: "hand", stream: (_, { signal }) => stream(signal) },
    get opened() {
      return requests.length
    },
    get left() {
      return left
    },
    whenOpened: async (count) => {
      while (requests.length < count) await new Promise<void>((resolve) => void watchers.push(resolve))
    },
    say,
    end: () => {
      newest().ended = true
      newest().wake()
    },
    text: (delta) => say({ type: "text_delta", id: null, delta }),
    finish: (finishReason, text = "") => {
      if (text !== "") say({ type: "text_completed", id: null, text })
      newest().ended = true
      say({ type: "message_completed", message: { role: "assistant", content: text }, finishReason })
    }
  }
}
