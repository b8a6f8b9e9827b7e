/**
 * A turn of a living chat, as its sender sees it.
 *
 * Owns: the events nobody has read yet. Does not own the turn, which runs whether anybody reads or not.
 *
 * TURN1. The chat never waits for the reader: what is not read is kept, fragments of the same text merged into one event,
 *        so that what waits is bounded by what was said, not by how slowly it is read.
 * TURN2. Leaving the loop detaches: the turn goes on, nothing more is kept.
 * TURN3. `result` settles when the turn ends: with its result, or with what ended it.
 */
import type { Turn } from "../ChatMachine.ts"
import type { ChatResult } from "../ChatResult.ts"
import type { Event } from "../Event.ts"
import type { Message } from "../Message.ts"
import { Outlet } from "./outlet.ts"
import type { RunOptions } from "./resolveOptions.ts"

type End = { readonly result: ChatResult } | { readonly error: unknown }

/** One turn: its events, and its result. */
export class LiveTurn implements AsyncIterableIterator<Event, undefined> {
  readonly turn: Turn
  readonly #waiting: Array<Event> = []
  #readers: Array<{
    readonly resolve: (next: IteratorResult<Event, undefined>) => void
    readonly reject: (error: unknown) => void
  }> = []
  #end: End | undefined
  #result: ChatResult | undefined
  #detached = false
  #ended: (() => void) | undefined
  /** Resolves when the turn is over, however; never rejects. */
  readonly ended: Promise<void>

  constructor(
    messages: ReadonlyArray<Message>,
    options: RunOptions,
    retry: boolean,
    published: (event: Event) => void
  ) {
    const outlet = new Outlet()
    this.turn = { messages, options, outlet, retry }
    this.ended = new Promise((resolve) => {
      this.#ended = resolve
    })
    outlet.whenEnded((failure) => this.#finish(failure))
    outlet.drive((event) => {
      if (event.type === "chat_completed") this.#result = event.result
      this.#publish(event)
      published(event)
    })
  }

  /** Whether it is over. */
  get over(): boolean {
    return this.#end !== undefined
  }

  /** What ended it, if it failed. */
  get failure(): { readonly error: unknown } | undefined {
    return this.#end !== undefined && "error" in this.#end ? this.#end : undefined
  }

  /** The turn's result (TURN3). */
  async result(): Promise<ChatResult> {
    await this.ended
    const end = this.#end
    if (end === undefined) throw new Error("a turn ended without an end")
    if ("error" in end) throw end.error
    return end.result
  }

  /** Ends the turn from outside: its process is gone. */
  fail(error: unknown): void {
    this.turn.outlet.fail(error)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<Event, undefined>> {
    return new Promise((resolve, reject) => {
      this.#readers.push({ resolve, reject })
      this.#serve()
    })
  }

  /** Detaches (TURN2). */
  return(): Promise<IteratorResult<Event, undefined>> {
    this.#detached = true
    this.#waiting.length = 0
    this.#serve()
    return Promise.resolve({ done: true, value: undefined })
  }

  #publish(event: Event): void {
    if (this.#detached) return
    const last = this.#waiting.at(-1)
    const merged = last === undefined ? undefined : merge(last, event)
    if (merged === undefined) this.#waiting.push(event)
    else this.#waiting[this.#waiting.length - 1] = merged
    this.#serve()
  }

  #finish(failure: { readonly error: unknown } | undefined): void {
    const result = this.#result
    this.#end =
      failure ?? (result === undefined ? { error: new Error("the turn ended without chat_completed") } : { result })
    this.turn.options.trace?.close(failure)
    this.#serve()
    this.#ended?.()
  }

  #serve(): void {
    while (this.#readers.length > 0) {
      const event = this.#waiting.shift()
      if (event === undefined && this.#end === undefined && !this.#detached) return
      const reader = this.#readers.shift()
      if (event !== undefined) reader?.resolve({ done: false, value: event })
      else if (this.#end !== undefined && "error" in this.#end && !this.#detached) {
        this.#detached = true
        reader?.reject(this.#end.error)
      } else reader?.resolve({ done: true, value: undefined })
    }
  }
}

/** Two fragments in a row as one; `undefined` when they are not fragments of the same thing. */
const merge = (last: Event, next: Event): Event | undefined => {
  if (last.type === "text_delta" && next.type === "text_delta" && last.id === next.id) {
    return { ...last, delta: last.delta + next.delta }
  }
  if (last.type === "tool_call_delta" && next.type === "tool_call_delta" && last.id === next.id) {
    return { ...last, argumentsDelta: last.argumentsDelta + next.argumentsDelta }
  }
  return undefined
}
