import type { AdapterEvent } from "@troupe/chat/events"
import type { Adapter } from "@troupe/chat/models"

type Said = IteratorResult<AdapterEvent, undefined>

/** A model whose every word the test says. */
export interface HandModel extends Adapter.Adapter {
  /** How many requests were made. */
  readonly requests: number
  readonly text: (delta: string) => void
  readonly call: (id: string, name: string, args: Record<string, unknown>) => void
  readonly finish: (reason?: "stop" | "tool_calls") => void
}

export const handModel = (): HandModel => {
  let said: Array<Said> = []
  let readers: Array<(said: Said) => void> = []
  let requests = 0
  const say = (value: AdapterEvent): void => give({ done: false, value })
  const give = (one: Said): void => {
    const reader = readers.shift()
    if (reader === undefined) said.push(one)
    else reader(one)
  }
  return {
    name: "hand",
    get requests() {
      return requests
    },
    text: (delta) => say({ type: "text_delta", id: null, delta }),
    call: (id, name, args) =>
      say({ type: "tool_call_completed", id, name, arguments: args, rawArguments: JSON.stringify(args) }),
    finish: (finishReason = "stop") => {
      say({ type: "message_completed", message: { role: "assistant", content: "" }, finishReason })
      give({ done: true, value: undefined })
    },
    stream: () => {
      requests += 1
      // What was said before the first request is for it; what an earlier one left unread is not for this one.
      if (requests > 1) said = []
      readers = []
      return {
        [Symbol.asyncIterator]: () => ({
          next: () => {
            const next = said.shift()
            return next === undefined ? new Promise<Said>((resolve) => readers.push(resolve)) : Promise.resolve(next)
          },
          return: async () => ({ done: true, value: undefined })
        })
      }
    }
  }
}
