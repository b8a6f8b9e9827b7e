/**
 * A turn of a living chat, as its sender sees it.
 *
 * Owns: the events nobody has read yet. Does not own the turn, which runs whether anybody reads or not.
 *
 * TURN1. The chat never waits for the reader: what is not read is kept, fragments of the same text merged into one event,
 *        so that what waits is bounded by what was said, not by how slowly it is read.
 * TURN2. Leaving the loop detaches: the turn goes on, nothing more is kept.
 * TURN3. `result` settles when the turn ends: with its result, or with what ended it.
 * TURN4. A turn whose input steered another is that one from there on: its events, its result, its end.
 */
import type { ChatResult, Receipt } from "../record/index.ts"
import { continues, type Event, outletIn, textOf, withText } from "../events/index.ts"
import { Delivery, inputId, type Turn } from "../inbox/index.ts"
import { Fifo } from "../async/index.ts"
import { type Inspect, inspected, printed } from "../json/index.ts"
import type { RunOptions } from "../options/index.ts"

type End = { readonly result: ChatResult } | { readonly error: unknown }

/** What nobody has read: an event, and the text of all the fragments in a row that it is the first of. */
interface Unread {
  readonly event: Event
  text: string
}

interface Reader {
  readonly resolve: (next: IteratorResult<Event, undefined>) => void
  readonly reject: (error: unknown) => void
}

/** One turn: its input's receipt, its events, and its result. */
export class LiveTurn implements AsyncIterableIterator<Event, undefined> {
  readonly turn: Turn
  readonly #delivery: Delivery
  readonly #waiting = new Fifo<Unread>()
  readonly #readers = new Fifo<Reader>()
  /** The turns that are this one by now (TURN4). */
  #followers: Array<LiveTurn> | undefined
  #end: End | undefined
  #result: ChatResult | undefined
  #detached = false
  #ended: (() => void) | undefined
  /** Resolves when the turn is over, however; never rejects. */
  readonly ended: Promise<void>

  constructor(
    said: Pick<Turn, "messages" | "retry" | "decisions">,
    options: RunOptions,
    published: (event: Event) => void,
    delivery: Delivery = new Delivery("queue", inputId(options.system), false)
  ) {
    const outlet = outletIn(options.system)
    this.turn = { ...said, options, outlet, delivery }
    this.#delivery = delivery
    delivery.owner = this
    this.ended = new Promise((resolve) => {
      this.#ended = resolve
    })
    outlet.whenEnded((failure) => this.#ends(failure))
    outlet.drive((event) => {
      if (event.type === "chat_completed") this.#result = event.result
      this.#publish(event)
      if (this.#followers !== undefined) for (const follower of this.#followers) follower.#publish(event)
      published(event)
    })
  }

  /** The input's id: the sender's, or one like no other. */
  get id(): string {
    return this.#delivery.id
  }

  /**
   * What is known of the input now.
   *
   * - `sent`: nothing yet
   * - `pending`, `delivered`, `rejected`: as its {@link Receipt} says
   */
  get status(): "sent" | Receipt["status"] {
    return this.#delivery.status
  }

  /** What becomes of the input, as soon as it is kept anywhere: delivered, pending or rejected. Never rejects. */
  get receipt(): Promise<Receipt> {
    return this.#delivery.first
  }

  /** What became of the input in the end: delivered or rejected; pending if the chat was stopped before. Never rejects. */
  get delivery(): Promise<Receipt> {
    return this.#delivery.last
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

  /** Its input steered `leader` (TURN4). */
  follow(leader: LiveTurn): void {
    if (this.#end !== undefined) return
    if (leader.#end !== undefined) return this.#finish(leader.#end)
    leader.#followers ??= []
    leader.#followers.push(this)
  }

  /** A printed turn is a small object (SHOWN1). */
  [inspected](_depth: number, options: object, inspect: Inspect): string {
    return printed("LiveTurn", this.toJSON(), options, inspect)
  }

  /** What the JSON text of a turn holds (SHOWN2). */
  toJSON(): { readonly id: string; readonly status: LiveTurn["status"]; readonly over: boolean } {
    return { id: this.id, status: this.status, over: this.over }
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
    this.#waiting.clear()
    this.#serve()
    return Promise.resolve({ done: true, value: undefined })
  }

  #publish(event: Event): void {
    if (this.#detached) return
    if (this.#waiting.size === 0) {
      const reader = this.#readers.shift()
      if (reader !== undefined) return reader.resolve({ done: false, value: event })
    }
    const { last } = this.#waiting
    if (last !== undefined && continues(last.event, event)) last.text += textOf(event)
    else this.#waiting.push({ event, text: textOf(event) })
  }

  #ends(failure: { readonly error: unknown } | undefined): void {
    if (failure !== undefined) this.#delivery.reject(failure.error)
    const result = this.#result
    this.#finish(
      failure ?? (result === undefined ? { error: new Error("the turn ended without chat_completed") } : { result })
    )
  }

  #finish(end: End): void {
    if (this.#end !== undefined) return
    this.#end = end
    this.turn.options.trace?.close(this.failure)
    this.#serve()
    this.#ended?.()
    for (const follower of this.#followers ?? []) follower.#finish(end)
    this.#followers = undefined
  }

  #serve(): void {
    while (this.#readers.size > 0) {
      const unread = this.#waiting.shift()
      if (unread === undefined && this.#end === undefined && !this.#detached) return
      const reader = this.#readers.shift()
      if (unread !== undefined) reader?.resolve({ done: false, value: withText(unread.event, unread.text) })
      else if (this.#end !== undefined && "error" in this.#end && !this.#detached) {
        this.#detached = true
        reader?.reject(this.#end.error)
      } else reader?.resolve({ done: true, value: undefined })
    }
  }
}
