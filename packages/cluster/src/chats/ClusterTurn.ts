/**
 * A turn of a chat of the cluster, as its sender sees it.
 *
 * Owns: the receipt, the unread events and the end of the turn for its sender. Does not own the turn, which its home runs.
 *
 * CLUSTER7. A turn that an input or answers began is followed over moves: they are sent again under the same id, and the answer is the
 *           turn that runs, not another one. Its events come again from the beginning.
 * CLTURN1. A retry, which has no id, goes on at the next home, as its server follows it (FORWARD9). It fails with `moved` when the home
 *          gave no answer: it may have begun, and a second request would begin another turn.
 * CLTURN2. Leaving the loop detaches: no more events are kept, and `result` still settles.
 */
import type { ChatResult, ChatTurn } from "@troupe/chat/chats"
import { SessionError, ValidationError } from "@troupe/chat/errors"
import type { Event } from "@troupe/chat/events"
import { StructuredOutput } from "@troupe/chat/models"
import type { ChatView } from "@troupe/chat/view"
import { Channel } from "@troupe/otp"
import { Server } from "@troupe/server"
import { HttpError } from "@troupe/server/HttpError"
import { eventOf } from "./ClusterReader.ts"
import { chatErrorOf, type NodeClient, passingFor, pause } from "./nodeClient.ts"

type Receipt = Awaited<ChatTurn["receipt"]>
type Schema = Parameters<typeof StructuredOutput.parse>[1]

/** What begins a turn, and how it is found again. */
export interface TurnParts {
  readonly client: NodeClient
  readonly path: string
  readonly body: unknown
  /** The id of the input, or of the answers. `undefined`: a retry. */
  readonly id: string | undefined
  readonly schema: Schema | undefined
  /** The present view of the chat. */
  readonly view: () => Promise<ChatView.ChatView>
  readonly entries: Parameters<typeof Server.placeOfTurn>[1]
  /** How long an interrupted turn may take to be resumed after a move, in milliseconds; 0 if it is not resumed. */
  readonly resumedMs: number
  /** Resolves when the request may be sent (CLREF2). */
  readonly before: Promise<unknown>
}

const everyMs = 100

export class ClusterTurn<A = unknown> extends Channel.Reader<Event> implements ChatTurn<A> {
  readonly #parts: TurnParts
  readonly #events = new Channel.Channel<Event>()
  readonly #first = Promise.withResolvers<Receipt>()
  readonly #last = Promise.withResolvers<Receipt>()
  readonly #ended = Promise.withResolvers<void>()
  readonly #stopped = new AbortController()
  #id: string
  #status: ChatTurn["status"] = "sent"
  #isDetached = false
  /** When an interrupted turn is given up. */
  #until: number | undefined
  #end: { readonly result: ChatResult } | { readonly error: unknown } | undefined

  constructor(parts: TurnParts) {
    super()
    this.#parts = parts
    this.#id = parts.id ?? parts.client.newId()
    void this.#follow()
  }

  get id(): string {
    return this.#id
  }

  get status(): ChatTurn["status"] {
    return this.#status
  }

  get receipt(): Promise<Receipt> {
    return this.#first.promise
  }

  get delivery(): Promise<Receipt> {
    return this.#last.promise
  }

  get over(): boolean {
    return this.#end !== undefined
  }

  get ended(): Promise<void> {
    return this.#ended.promise
  }

  get failure(): { readonly error: unknown } | undefined {
    return this.#end !== undefined && "error" in this.#end ? this.#end : undefined
  }

  async result(): Promise<ChatResult> {
    await this.ended
    const end = this.#end
    if (end === undefined) throw new Error("a turn ended without an end")
    if ("error" in end) throw end.error
    return end.result
  }

  async object(): Promise<A> {
    const { schema } = this.#parts
    if (schema !== undefined) return (await StructuredOutput.parse(await this.result(), schema)) as A
    const reason = "required: the input was sent without it; send it with { schema }"
    throw new ValidationError("invalid_options", [{ field: ["schema"], reason }])
  }

  next(): Promise<IteratorResult<Event, undefined>> {
    return this.#events.next()
  }

  return(): Promise<IteratorResult<Event, undefined>> {
    this.#isDetached = true
    return this.#events.return()
  }

  /** Whether the stream of a turn that had begun is over, and the turn has no end. */
  get #isInterrupted(): boolean {
    return this.#end === undefined && this.#status !== "sent"
  }

  async #follow(): Promise<void> {
    const { client, id, before } = this.#parts
    const { signal } = this.#stopped
    const isPassing = passingFor(client)
    await before
    try {
      for (let isRepeated = false; this.#end === undefined; isRepeated = true) {
        try {
          await this.#read(signal)
        } catch (error) {
          if (client.closed.aborted) throw error
          if (isRepeated && isDelivered(error)) await this.#settle()
          else if (id === undefined && (this.#status !== "sent" || mayHaveBegun(error))) throw moved(error)
          else if (!isPassing(error)) throw error
        }
        if (id === undefined && this.#isInterrupted && !client.closed.aborted) throw moved(undefined)
        if (this.#end === undefined) await pause(client, everyMs, signal)
      }
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Reads the turn from its home to its end, or until its stream is cut. */
  async #read(signal: AbortSignal): Promise<void> {
    const { client, path, body } = this.#parts
    const { headers, frames } = await client.open(path, signal, body)
    this.#id = decodeURIComponent(headers.get("x-troupe-turn") ?? this.#id)
    this.#received(headers.get("x-troupe-status") === "pending" ? "pending" : "delivered")
    for await (const { data } of frames) {
      if (data["type"] === "closing") return
      if (data["type"] === "failed") throw chatErrorOf(data)
      if (data["type"] === "snapshot") continue
      const event = eventOf(data)
      this.#received("delivered")
      if (!this.#isDetached) this.#events.push(event)
      if (event.type === "chat_completed") this.#finish({ result: event.result })
    }
  }

  /** The input was delivered, and its turn is over or was interrupted: its end is read from the chat. */
  async #settle(): Promise<void> {
    const { view, client, resumedMs, id, entries } = this.#parts
    this.#received("delivered")
    const now = await view()
    const place = id === undefined ? undefined : await Server.placeOfTurn(id, entries)
    // A turn that was never resumed ended when the next one began.
    if (place?.last?.state.running === true) throw moved(undefined)
    const isOver = place?.to !== undefined || (now.status !== "running" && now.status !== "interrupted")
    if (isOver) return this.#finish({ result: Server.resultOfTurn(now, place) })
    if (now.status === "running") return
    this.#until ??= client.clock.now() + resumedMs
    if (client.clock.now() >= this.#until) throw moved(undefined)
  }

  #received(status: "delivered" | "pending"): void {
    if (this.#status === "delivered" || this.#status === status) return
    this.#status = status
    this.#first.resolve({ status })
    if (status === "delivered") this.#last.resolve({ status })
  }

  #fail(error: unknown): void {
    if (this.#status !== "delivered") {
      if (this.#status === "sent") this.#status = "rejected"
      const receipt: Receipt =
        this.#status === "pending" ? { status: "pending" } : { status: "rejected", reason: reasonOf(error), error }
      this.#first.resolve(receipt)
      this.#last.resolve(receipt)
    }
    this.#finish({ error })
  }

  #finish(end: { readonly result: ChatResult } | { readonly error: unknown }): void {
    if (this.#end !== undefined) return
    this.#end = end
    if ("error" in end) this.#events.fail(end.error)
    else this.#events.end()
    this.#stopped.abort()
    this.#ended.resolve()
  }
}

const reasonOf = (error: unknown): SessionError["reason"] =>
  error instanceof SessionError ? error.reason : "store_failed"

const isDelivered = (error: unknown): boolean => error instanceof SessionError && error.reason === "already_delivered"

/** Whether the home may have processed the request that failed. */
const mayHaveBegun = (error: unknown): boolean =>
  error instanceof HttpError && (error.code === "home_silent" || error.code === "internal")

const moved = (cause: unknown): SessionError =>
  new SessionError("moved", "The chat has left its node during this turn; its state is stored, and retry() goes on", {
    cause
  })
