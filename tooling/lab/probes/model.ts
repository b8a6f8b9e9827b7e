/** The toolbox of the probes: the scripted model of one agent, which counts its requests, and tools. */
import { setTimeout as sleep } from "node:timers/promises"
import type { ProbeTool } from "./framework.ts"

/** A call of a tool, with its arguments as the model's text. */
export interface Call {
  readonly id: string
  readonly name: string
  readonly json: string
}

/** A piece of a reply, or something that happens between two pieces: a pause, a hang, or the end of the connection. */
export type Part = string | Call | { readonly waitMs: number } | "hang" | "break"

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

  constructor(respond: Respond) {
    this.#respond = respond
  }

  /** Opens one reply: its texts and calls. It ends early when the signal is aborted. */
  async *reply(asked: Asked, signal?: AbortSignal): AsyncGenerator<string | Call, void> {
    this.requests++
    try {
      for (const part of this.#respond(asked, this.requests)) {
        if (signal?.aborted === true) return
        if (part === "break") throw new Error("the connection is broken")
        if (part === "hang") await untilAborted(signal)
        else if (typeof part === "string") {
          this.words++
          yield part
        } else if ("waitMs" in part) await Promise.race([sleep(part.waitMs), untilAborted(signal)])
        else yield part
      }
    } finally {
      this.released++
    }
  }

  /** A whole reply; throws when the signal is aborted meanwhile. */
  async whole(
    asked: Asked,
    signal?: AbortSignal
  ): Promise<{ readonly text: string; readonly calls: ReadonlyArray<Call> }> {
    const parts: Array<string | Call> = []
    for await (const part of this.reply(asked, signal)) parts.push(part)
    signal?.throwIfAborted()
    return {
      text: parts.filter((part) => typeof part === "string").join(""),
      calls: parts.filter((part) => typeof part !== "string")
    }
  }
}

export const call = (id: string, name: string, json = "{}"): Call => ({ id, name, json })

/** Words without end, for the time of a probe. */
export const endless: ReadonlyArray<Part> = Array.from({ length: 2_000 }, (_, at): Part =>
  at % 2 === 0 ? "word " : { waitMs: 5 }
)

/** Calls other agents with one task each, and answers with their results. */
export const gives = (tasks: Readonly<Record<string, string>>): Model =>
  new Model(({ results }) =>
    results.length > 0
      ? [`all: ${results.join(" and ")}`]
      : Object.entries(tasks).map(([id, name]) => call(id, name, JSON.stringify({ input: `${id} dig` })))
  )

/** Calls a tool once, and answers as given. */
export const uses = (id: string, name: string, answer: Respond = () => ["found"]): Model =>
  new Model((asked, count) => (asked.results.length > 0 ? answer(asked, count) : [call(id, name)]))

/** A tool that works until it is released or its signal is aborted, and the counts of what it did. */
export const held = (name: string) => {
  const { promise, resolve: release } = Promise.withResolvers<void>()
  const counts = { begun: 0, signals: 0, effects: 0 }
  const run = async (signal: AbortSignal): Promise<string> => {
    counts.begun++
    const aborted = untilAborted(signal).then(() => {
      counts.signals++
      signal.throwIfAborted()
    })
    await Promise.race([promise, aborted])
    counts.effects++
    return "done"
  }
  return { tool: { name, run }, counts, release }
}

/** A tool that writes: its effect comes first, and then `after`. */
export const charge = (effect: () => void, after: () => Promise<void> = async () => {}): ProbeTool => ({
  name: "charge",
  run: async () => {
    effect()
    await after()
    return "charged"
  }
})
