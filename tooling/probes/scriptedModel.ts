/** A model with scripted replies, which counts the pieces taken from it. */

/** A piece of a reply. */
export type Chunk =
  | { readonly type: "text"; readonly text: string }
  /** A call, with its arguments as the model's text. */
  | { readonly type: "call"; readonly id: string; readonly name: string; readonly json: string }
  | { readonly type: "finish"; readonly reason: "stop" | "tool_calls" | "length" }

const text = (said: string): Chunk => ({ type: "text", text: said })
export const call = (id: string, name: string, json = "{}"): Chunk => ({ type: "call", id, name, json })
const finish = (reason: "stop" | "tool_calls" | "length"): Chunk => ({ type: "finish", reason })

/** A reply with calls. */
export const calls = (...made: ReadonlyArray<Chunk>): ReadonlyArray<Chunk> => [...made, finish("tool_calls")]
export const says = (said: string): ReadonlyArray<Chunk> => [text(said), finish("stop")]

/** Answers each request with the next reply; the last one repeats. */
export class ScriptedModel {
  readonly #replies: ReadonlyArray<ReadonlyArray<Chunk>>
  opened = 0
  released = 0
  pulled = 0

  constructor(...replies: ReadonlyArray<ReadonlyArray<Chunk>>) {
    this.#replies = replies
  }

  /** Opens one reply. */
  async *reply(): AsyncGenerator<Chunk, void> {
    const chunks = this.#replies[Math.min(this.opened, this.#replies.length - 1)] ?? []
    this.opened++
    try {
      for (const chunk of chunks) {
        this.pulled++
        yield chunk
      }
    } finally {
      this.released++
    }
  }
}

/** A long reply: `count` words. */
export const words = (count: number): ReadonlyArray<Chunk> => [
  ...Array.from({ length: count }, () => text("word ")),
  finish("stop")
]
