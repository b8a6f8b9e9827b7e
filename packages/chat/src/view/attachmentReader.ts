/**
 * One reader of a live chat.
 *
 * Owns: the reader's place, the channel of its pending reads, its listener on the caller's signal. Does not own the events,
 * which are in the chat's log, once for all readers. The channel gets an event only when a read waits.
 *
 * ATT1. From its beginning to its end a reader gets every event after its place once, in order. A snapshot replaces the
 *       events that it does not get.
 * ATT2. A reader holds no events: when it is slow, or stops reading, its chat holds only its bounded log.
 * ATT3. A reader detaches by leaving, by its signal, by the chat's stop or when the chat leaves, and then has no pending
 *       read and no listener. After a stop unread events can still be read.
 * ATT4. When the chat leaves, a reader reads its unread events; then its next read rejects with `moved`.
 */
import { Channel } from "@troupe/otp"
import type { EventLog } from "./eventLog.ts"
import type { Attached, AttachOptions, Cursor } from "./attachOptions.ts"

type Next = IteratorResult<Attached, undefined>

/** The functions of a chat's feed that a reader uses. */
interface Feed {
  readonly log: EventLog
  readonly over: boolean
  /** The error of readers that have read all events of a chat that is over; `undefined` if they end. */
  readonly failure: Error | undefined
  readonly wait: (reader: Attachment) => void
  readonly forgetWaiting: (reader: Attachment) => void
  readonly forget: (reader: Attachment) => void
  readonly cursorAt: (place: number) => Cursor
  readonly snapshot: () => Attached | undefined
}

/** The beginning of an attachment: a place, or a place and the snapshot that replaces all events before. */
export interface Beginning {
  readonly place: number
  readonly first: Attached | undefined
}

const defaultMaxUnread = 1_000

/** A chat's events for one reader; `return`, which leaving a `for await` loop calls, detaches. */
export class Attachment extends Channel.Reader<Attached> {
  readonly #feed: Feed
  readonly #maxUnread: number
  readonly #signal: AbortSignal | undefined
  readonly #reads = new Channel.Channel<Attached>({ onDemand: () => this.serve() })
  #place: number
  /** The number of events when it last read one. */
  #seen: number
  #first: Attached | undefined
  #detached = false

  /** Created by `chat.attach`. */
  constructor(feed: Feed, { place, first }: Beginning, options: AttachOptions) {
    super()
    const { whenSlow, maxUnread = defaultMaxUnread, signal } = options
    this.#feed = feed
    this.#place = place
    this.#first = first
    this.#seen = feed.log.count
    this.#maxUnread = whenSlow === "snapshot" ? maxUnread : Number.POSITIVE_INFINITY
    this.#signal = signal
    signal?.addEventListener("abort", this.#onAbort)
    if (signal?.aborted === true) this.#detach()
  }

  next(): Promise<Next> {
    return this.#reads.next()
  }

  /** Detaches; the chat continues. */
  return(): Promise<Next> {
    this.#detach()
    return this.#reads.return()
  }

  /** The place of its first unread event; `Infinity` if it needs no event of the log. */
  get unreadFrom(): number {
    const { log } = this.#feed
    return log.hasLost(this.#place) || this.#isBehind ? Number.POSITIVE_INFINITY : this.#place
  }

  /** Resolves pending reads, as far as there is something to read. */
  serve(): void {
    while (this.#reads.isAwaited) {
      const item = this.#take()
      if (item !== undefined) this.#reads.push(item)
      else if (this.#feed.over) this.#finish()
      else return this.#feed.wait(this)
    }
    this.#feed.forgetWaiting(this)
  }

  #finish(): void {
    const { failure } = this.#feed
    if (failure === undefined) this.#reads.end()
    else this.#reads.fail(failure)
  }

  /** Ends the reader because the chat was stopped, or has left. */
  ended(): void {
    this.#signal?.removeEventListener("abort", this.#onAbort)
    this.serve()
  }

  /** Fails the reader because the chat was stopped, or had left, before: its next read rejects with `error`. */
  fail(error: unknown): void {
    this.#reads.fail(error)
    this.#detach()
  }

  #take(): Attached | undefined {
    const { log } = this.#feed
    if (log.hasLost(this.#place) || this.#isBehind) return this.#takeSnapshot()
    const first = this.#first
    if (first !== undefined) {
      this.#first = undefined
      return first
    }
    const reading = log.readFrom(this.#place)
    if (reading === undefined) return undefined
    this.#place = reading.end
    this.#seen = Math.max(this.#seen, reading.count)
    return { type: "event", cursor: this.#feed.cursorAt(reading.end), event: reading.event }
  }

  #takeSnapshot(): Attached | undefined {
    const snapshot = this.#feed.snapshot()
    if (snapshot === undefined) return undefined
    const { log } = this.#feed
    this.#place = log.end
    this.#seen = log.count
    this.#first = undefined
    return snapshot
  }

  get #isBehind(): boolean {
    return this.#feed.log.count - this.#seen > this.#maxUnread
  }

  readonly #onAbort = (): void => this.#detach()

  #detach(): void {
    if (this.#detached) return
    this.#detached = true
    this.#first = undefined
    this.#signal?.removeEventListener("abort", this.#onAbort)
    this.#feed.forget(this)
    this.#reads.end()
  }
}
