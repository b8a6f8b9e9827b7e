/**
 * The reader's end of a tool batch.
 *
 * Owns: nothing but whether it began. Does not own the batch, which lives no longer than somebody reads.
 *
 * TEVT1. Nothing runs before the first question; what can be wrong then is the answer to it.
 * TEVT2. Leaving waits for no tool: a question that is open is answered with the end.
 */
import type { EngineError } from "../errors/index.ts"
import type { ErrorEvent, Event, ToolEvent } from "../events/index.ts"

type Next = IteratorResult<ToolEvent | ErrorEvent, undefined>

/** The events of a batch, or why there is none. */
export type Begun = AsyncIterator<Event, undefined> | EngineError | undefined

const done: Next = { done: true, value: undefined }

/** The events of a tool batch, for one reader, from the first question on. */
export class ToolEvents implements AsyncIterableIterator<ToolEvent | ErrorEvent, undefined> {
  readonly #begin: () => Begun
  #state: "new" | "over" | AsyncIterator<Event, undefined> = "new"

  constructor(begin: () => Begun) {
    this.#begin = begin
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<Next> {
    if (this.#state === "new") {
      this.#state = "over"
      const begun = this.#begin()
      if (begun === undefined) return done
      if (begun instanceof Error) return { done: false, value: { type: "error", error: begun } }
      this.#state = begun
    }
    if (this.#state === "over") return done
    for (;;) {
      const next = await this.#state.next()
      if (next.done === true) return done
      if (isToolEvent(next.value)) return { done: false, value: next.value }
    }
  }

  async return(): Promise<Next> {
    const events = this.#state
    this.#state = "over"
    if (typeof events === "object") await events.return?.()
    return done
  }

  async throw(error: unknown): Promise<Next> {
    await this.return()
    throw error
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return()
  }
}

const isToolEvent = (event: Event): event is ToolEvent =>
  event.type.startsWith("tool_execution") ||
  event.type === "tool_result_encoded" ||
  event.type === "tool_halt" ||
  event.type === "ask_user_requested"
