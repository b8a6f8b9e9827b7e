/**
 * A turn of a live chat, as its sender sees it.
 *
 * Owns: the end of the turn for its reader, and the turns that follow it. Does not own the turn, which runs whether or not
 * its events are read. The unread events are in the channel of the turn's outlet.
 *
 * TURN1. The chat never waits for the reader. Unread events are kept, and fragments of the same text are merged into one
 *        event, so that memory is bounded by the length of the reply, not by the speed of the reader.
 * TURN2. Leaving the loop detaches: the turn continues, and no more events are kept.
 * TURN3. `result` settles when the turn ends: with its result, or with the error that ended it.
 * TURN4. A turn whose input steered another turn follows that turn from there on: it has the same events, result and end. The result is
 *        its last event, also when the other turn has ended.
 * TURN5. The events have one reader: the first that reads them or leaves. Anybody else reads the turn from its chat, and `detach` discards
 *        events without a reader.
 */
import { Channel } from "@troupe/otp"
import type { ChatResult, Receipt } from "../record/index.ts"
import { emit, type Event, joined, outletIn } from "../events/index.ts"
import { Delivery, inputId, type Turn } from "../inbox/index.ts"
import { type Inspect, inspected, printed } from "../json/index.ts"
import type { RunOptions } from "../options/index.ts"
import * as StructuredOutput from "../request/StructuredOutput.ts"
import type { Parameters } from "../tool/index.ts"
import { type SessionError, ValidationError } from "../errors/index.ts"

type End = { readonly result: ChatResult } | { readonly error: unknown }

/** The error of a turn in place of this one, which ended it; `undefined` if there is no other. */
export type CompleteError = (error: unknown) => Promise<unknown> | undefined

/** The chat of a turn. */
interface PublishingHome {
  /** Called with each event of the turn. */
  readonly published: (event: Event) => void
}

/** One turn: its input's receipt, its events, and its result. */
export class LiveTurn<A = unknown> extends Channel.Reader<Event> {
  /** What the turn begins with, for this package. */
  readonly turn: Turn
  readonly #delivery: Delivery
  readonly #events: Channel.Channel<Event>
  /** The schema that the input was sent with. */
  #schema: Parameters<A> | undefined
  /** The turns that follow this one (TURN4). */
  #followers: Array<LiveTurn> | undefined
  #leader: LiveTurn | undefined
  #isRead = false
  #end: End | undefined
  #result: ChatResult | undefined
  #ended: (() => void) | undefined
  readonly #complete: CompleteError | undefined
  readonly #home: PublishingHome
  /** Resolves when the turn is over, also when it failed; never rejects. */
  readonly ended: Promise<void>

  constructor(
    said: Pick<
      Turn,
      "messages" | "retry" | "compacts" | "attempt" | "decisions" | "digest" | "renews" | "own" | "model" | "answers"
    >,
    options: RunOptions,
    home: PublishingHome,
    delivery: Delivery = new Delivery("queue", inputId(options.system), false),
    complete?: CompleteError
  ) {
    super()
    const outlet = outletIn(options.system, joined)
    this.#events = outlet.events
    this.turn = { ...said, options, outlet, delivery }
    this.#delivery = delivery
    this.#complete = complete
    this.#home = home
    delivery.owner = this
    this.ended = new Promise((resolve) => {
      this.#ended = resolve
    })
    outlet.whenEnded((failure) => this.#ends(failure))
    outlet.drive(this.#take)
  }

  /** The input's id, from the sender or generated. */
  get id(): string {
    return this.#delivery.id
  }

  /** The id of its chat. */
  get chat(): string | undefined {
    return this.turn.options.chat?.id
  }

  /**
   * The delivery status of the input.
   *
   * - `sent`: no receipt yet
   * - `pending`, `delivered`, `rejected`: the status of its {@link Receipt}
   */
  get status(): "sent" | Receipt["status"] {
    return this.#delivery.status
  }

  /** Resolves with the first receipt of the input: delivered, pending or rejected. Never rejects. */
  get receipt(): Promise<Receipt> {
    return this.#delivery.first
  }

  /**
   * Resolves with the final receipt of the input: delivered or rejected; pending if the chat was stopped before. Never
   * rejects.
   */
  get delivery(): Promise<Receipt> {
    return this.#delivery.last
  }

  /** Whether the turn is over. */
  get over(): boolean {
    return this.#end !== undefined
  }

  /** The turn that the input of this one has joined. */
  get leader(): LiveTurn | undefined {
    return this.#leader
  }

  /** The error of a failed turn. */
  get failure(): { readonly error: unknown } | undefined {
    return this.#end !== undefined && "error" in this.#end ? this.#end : undefined
  }

  /** Resolves with the result of the turn. Rejects with the error that ended the turn. */
  async result(): Promise<ChatResult> {
    await this.ended
    const end = this.#end
    if (end === undefined) throw new Error("a turn ended without an end")
    const other = await this.#complete?.("error" in end ? end.error : end.result.metadata["error"])
    if (other !== undefined) throw other
    if ("error" in end) throw end.error
    return end.result
  }

  /** The same turn, whose answer has this schema. */
  answering<B>(schema: Parameters<B> | undefined): LiveTurn<B> {
    const turn = this as unknown as LiveTurn<B>
    if (schema !== undefined) turn.#schema = schema
    return turn
  }

  /** The answer of the turn, by the schema of its input. Rejects as `result` and `StructuredOutput.parse` do. */
  async object(): Promise<A> {
    const schema = this.#schema ?? (this.turn.options.schema as Parameters<A> | undefined)
    if (schema !== undefined) return StructuredOutput.parse(await this.result(), schema)
    const reason = "required: the input was sent without it; send it with { schema }"
    throw new ValidationError("invalid_options", [{ field: ["schema"], reason }])
  }

  readonly #take = (event: Event): void => {
    if (event.type === "chat_completed") this.#result = event.result
    this.#events.push(event)
    if (this.#followers !== undefined) for (const follower of this.#followers) follower.#events.push(event)
    this.#home.published(event)
  }

  /** Adds an event of a child; after `chat_completed` there are none. */
  pass(event: Event): void {
    if (this.#result === undefined && this.#end === undefined) this.#take(event)
  }

  /** Fails the turn because its process is gone, and returns it. */
  fail(error: unknown): this {
    this.turn.outlet.fail(error)
    return this
  }

  /** Ends a turn that could not begin, with this error and result as its events. */
  endInError(error: SessionError, result: ChatResult): void {
    const { outlet } = this.turn
    this.#delivery.reject(error)
    outlet.begin()
    emit(
      outlet,
      [
        { type: "error", error },
        { type: "chat_completed", result }
      ],
      () => outlet.close()
    )
  }

  /** Ends a turn that needs no process: this result is its only event, and the readers of the chat do not get it. */
  endAtOnce(result: ChatResult): void {
    if (this.#end !== undefined) return
    this.#delivery.deliver()
    this.#result = result
    this.#events.push({ type: "chat_completed", result })
    this.#finish({ result })
  }

  /** Makes this turn follow `leader`, which its input steered. */
  follow(leader: LiveTurn): void {
    if (this.#end !== undefined) return
    this.#leader = leader
    const result = leader.#result
    if (result !== undefined) this.#events.push({ type: "chat_completed", result })
    if (leader.#end !== undefined) return this.#finish(leader.#end)
    leader.#followers ??= []
    leader.#followers.push(this)
  }

  /** The small object that is printed for a turn. */
  [inspected](_depth: number, options: object, inspect: Inspect): string {
    return printed("LiveTurn", this.toJSON(), options, inspect)
  }

  /** The JSON form of a turn. */
  toJSON(): { readonly id: string; readonly status: LiveTurn["status"]; readonly over: boolean } {
    return { id: this.id, status: this.status, over: this.over }
  }

  /** Drops the events, unless somebody reads them here. `attach({ turn })` of the chat reads the turn too. */
  detach(): undefined {
    if (!this.#isRead) void this.return()
  }

  /** Resolves with the next event of the turn. Rejects with the error that ended the turn. */
  next(): Promise<IteratorResult<Event, undefined>> {
    this.#isRead = true
    return this.#events.next()
  }

  /** Detaches the reader; the turn continues. */
  return(): Promise<IteratorResult<Event, undefined>> {
    this.#isRead = true
    return this.#events.return()
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
    if ("error" in end) this.#events.fail(end.error)
    else this.#events.end()
    this.#ended?.()
    for (const follower of this.#followers ?? []) follower.#finish(end)
    this.#followers = undefined
  }
}
