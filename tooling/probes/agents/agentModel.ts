/** The scripted model of one agent, which counts its requests and the words that are taken from it. */
import { setTimeout as sleep } from "node:timers/promises"
import type { Chunk } from "../scriptedModel.ts"

/** The last input of a thread, and the results of the calls after it. */
export interface Asked {
  readonly input: string
  readonly results: ReadonlyArray<string>
}

/** A piece of a reply, or something that happens between two pieces. */
export type Part =
  | Chunk
  | { readonly type: "wait"; readonly ms: number }
  /** No other piece comes. */
  | { readonly type: "hang" }
  /** The connection breaks. */
  | { readonly type: "break" }

/** Answers a request; `count` is the number of the request, from 1 on. */
export type Respond = (asked: Asked, count: number) => ReadonlyArray<Part>

/** The tokens of each reply. */
export const replyTokens = 60

const untilAborted = (signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted === true) resolve()
    signal?.addEventListener("abort", () => resolve(), { once: true })
  })

/** Answers each request by its function. */
export class AgentModel {
  readonly #respond: Respond
  requests = 0
  released = 0
  words = 0

  constructor(respond: Respond) {
    this.#respond = respond
  }

  /** Opens one reply. It ends early when the signal is aborted. */
  async *reply(asked: Asked, signal?: AbortSignal): AsyncGenerator<Chunk, void> {
    this.requests++
    try {
      for (const part of this.#respond(asked, this.requests)) {
        if (signal?.aborted === true) return
        if (part.type === "break") throw new Error("the connection is broken")
        if (part.type === "hang") await untilAborted(signal)
        else if (part.type === "wait") await Promise.race([sleep(part.ms), untilAborted(signal)])
        else {
          if (part.type === "text") this.words++
          yield part
        }
      }
    } finally {
      this.released++
    }
  }
}
