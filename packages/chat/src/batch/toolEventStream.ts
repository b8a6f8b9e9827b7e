/**
 * The event stream of a tool batch.
 *
 * Owns: its own state (new, open or over). Does not own the batch, which ends when the reader leaves.
 *
 * TEVT1. Nothing runs before the first `next`; errors of the start are reported by that `next`.
 * TEVT2. `return` waits for no tool: a pending `next` resolves as done.
 */
import type { EngineError } from "../errors/index.ts"
import type { ErrorEvent, Event, ToolEvent } from "../events/index.ts"

type Next = IteratorResult<ToolEvent | ErrorEvent, undefined>

/** The events of a batch, the error of its start, or `undefined` for an empty batch. */
export type Begun = AsyncIterator<Event, undefined> | EngineError | undefined

const done: Next = { done: true, value: undefined }

/** The events of a tool batch, for one reader. */
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
