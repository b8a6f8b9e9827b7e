/** The scripted model of one agent, which counts its requests and the pieces that are taken from it. */
import { setTimeout as sleep } from "node:timers/promises"

/** A piece of a reply. */
export type Chunk =
  | { readonly type: "text"; readonly text: string }
  /** A call, with its arguments as the model's text. */
  | { readonly type: "call"; readonly id: string; readonly name: string; readonly json: string }
  | { readonly type: "finish"; readonly reason: "stop" | "tool_calls" | "length" }

/** A piece of a reply, or something that happens between two pieces: a pause, a hang, or the end of the connection. */
export type Part =
  | Chunk
  | { readonly type: "wait"; readonly ms: number }
  | { readonly type: "hang" }
  | { readonly type: "break" }

/** The last input of a thread, and the results of the calls after it. */
export interface Asked {
  readonly input: string
  readonly results: ReadonlyArray<string>
}

/** Answers a request; `count` is the number of the request, from 1 on. */
export type Respond = (asked: Asked, count: number) => ReadonlyArray<Part>

/** The tokens of each reply. */
export const replyTokens = 60

const untilAborted = (signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted === true) resolve()
    signal?.addEventListener("abort", () => resolve(), { once: true })
  })

export class Model {
  readonly #respond: Respond
  requests = 0
  released = 0
  words = 0
  pulled = 0

  constructor(respond: Respond) {
    this.#respond = respond
  }

  /** Opens one reply. It ends early when the signal is aborted. */
  async *reply(asked: Asked = { input: "", results: [] }, signal?: AbortSignal): AsyncGenerator<Chunk, void> {
    this.requests++
    try {
      for (const part of this.#respond(asked, this.requests)) {
        if (signal?.aborted === true) return
        if (part.type === "break") throw new Error("the connection is broken")
        if (part.type === "hang") await untilAborted(signal)
        else if (part.type === "wait") await Promise.race([sleep(part.ms), untilAborted(signal)])
        else {
          this.pulled++
          if (part.type === "text") this.words++
          yield part
        }
      }
    } finally {
      this.released++
    }
  }
}

/** Answers each request with the next reply; the last one repeats. */
export const replies = (...all: ReadonlyArray<ReadonlyArray<Part>>): Model =>
  new Model((_, count) => all[Math.min(count, all.length) - 1] ?? [])

export const text = (said: string): Chunk => ({ type: "text", text: said })
export const call = (id: string, name: string, json = "{}"): Chunk => ({ type: "call", id, name, json })

/** A reply with calls. */
export const calls = (...made: ReadonlyArray<Chunk>): ReadonlyArray<Chunk> => [
  ...made,
  { type: "finish", reason: "tool_calls" }
]
export const says = (said: string): ReadonlyArray<Chunk> => [text(said), { type: "finish", reason: "stop" }]

/** A long reply: `count` words. */
export const words = (count: number): ReadonlyArray<Chunk> => [
  ...Array.from({ length: count }, () => text("word ")),
  { type: "finish", reason: "stop" }
]

/** Words without end, for the time of a probe. */
export const endless: ReadonlyArray<Part> = Array.from({ length: 2_000 }, (_, at): Part =>
  at % 2 === 0 ? text("word ") : { type: "wait", ms: 5 }
)

/** Calls other agents with one task each, and answers with their results. */
export const gives = (tasks: Readonly<Record<string, string>>): Model =>
  new Model(({ results }) =>
    results.length > 0
      ? says(`all: ${results.join(" and ")}`)
      : calls(...Object.entries(tasks).map(([id, name]) => call(id, name, JSON.stringify({ input: `${id} dig` }))))
  )

/** Calls a tool once, and answers as given. */
export const uses = (id: string, name: string, answer: Respond = () => says("found")): Model =>
  new Model((asked, count) => (asked.results.length > 0 ? answer(asked, count) : calls(call(id, name))))
