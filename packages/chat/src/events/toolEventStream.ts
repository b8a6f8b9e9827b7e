/**
 * The event stream of a tool batch.
 *
 * Owns: its own state (new, open or over). Does not own the batch, which ends when the reader leaves.
 *
 * TEVT1. Nothing runs before the first `next`; errors of the start are reported by that `next`.
 * TEVT2. `return` waits for no tool: a pending `next` resolves as done.
 */
import { Channel } from "@troupe/otp"
import type { EngineError } from "../errors/index.ts"
import type { ErrorEvent, Event, ToolEvent } from "./Event.ts"

type Next = IteratorResult<ToolEvent | ErrorEvent, undefined>

/** The events of a batch, the error of its start, or `undefined` for an empty batch. */
export type Begun = AsyncIterator<Event, undefined> | EngineError | undefined

const done: Next = { done: true, value: undefined }

/** The events of a tool batch, for one reader. */
export class ToolEvents extends Channel.Reader<ToolEvent | ErrorEvent> {
  readonly #begin: () => Begun
  #state: "new" | "over" | AsyncIterator<Event, undefined> = "new"

  constructor(begin: () => Begun) {
    super()
    this.#begin = begin
  }

  next(): Promise<Next> {
    if (this.#state === "new") return this.#start()
    return this.#state === "over" ? Promise.resolve(done) : this.#state.next().then(this.#select)
  }

  async return(): Promise<Next> {
    const events = this.#state
    this.#state = "over"
    if (typeof events === "object") await events.return?.()
    return done
  }

  async #start(): Promise<Next> {
    this.#state = "over"
    const begun = this.#begin()
    if (begun === undefined) return done
    if (begun instanceof Error) return { done: false, value: { type: "error", error: begun } }
    this.#state = begun
    return this.next()
  }

  readonly #select = (next: IteratorResult<Event, undefined>): Next | Promise<Next> => {
    if (next.done === true) return done
    return isToolEvent(next.value) ? { done: false, value: next.value } : this.next()
  }
}

const isToolEvent = (event: Event): event is ToolEvent =>
  event.type.startsWith("tool_execution") ||
  event.type === "tool_result_encoded" ||
  event.type === "tool_halt" ||
  event.type === "ask_user_requested"
