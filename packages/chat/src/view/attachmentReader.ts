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
 * ATT5. The states of calls come when no event is unread, each when it is published (CALLS2). So a reader has the event of the
 *       call before them.
 */
import { Channel } from "@troupe/otp"
import type { Event } from "../events/index.ts"
import type { CallFeed } from "./callFeed.ts"
import type { EventLog } from "./eventLog.ts"
import type { Attached, CallItem, Cursor, LocalAttachOptions } from "./attachOptions.ts"
import type { TurnEvents } from "./turnEvents.ts"

type Item = Attached | CallItem
type Next<A> = IteratorResult<A, undefined>

/** The functions of a chat's feed that a reader uses. */
interface Feed {
  readonly log: EventLog
  readonly over: boolean
  /** The error of readers that have read all events of a chat that is over; `undefined` if they end. */
  readonly failure: Error | undefined
  /** Removes a detached reader. */
  readonly forget: (reader: Reader, readsCalls: boolean) => void
  readonly cursorAt: (place: number) => Cursor
  readonly snapshot: () => Attached | undefined
}

/** A reader, as the feed of its chat has it. */
export interface Reader {
  readonly unreadFrom: number
  readonly serve: () => void
  readonly ended: () => void
  readonly takeRest: () => void
}

/**
 * The beginning of an attachment: a place, or a place and the snapshot that replaces all events before. `calls` has the states of the
 * calls for this reader.
 */
export interface Beginning {
  readonly place: number
  readonly first: Attached | undefined
  readonly turn?: TurnEvents | undefined
  readonly calls?: CallFeed | undefined
}

const defaultMaxUnread = 1_000

/** A chat's events for one reader; `return`, which leaving a `for await` loop calls, detaches. */
export class Attachment<A extends Item = Attached> extends Channel.Reader<A> implements Reader {
  readonly #feed: Feed
  readonly #maxUnread: number
  readonly #signal: AbortSignal | undefined
  readonly #reads = new Channel.Channel<A>({ onDemand: () => this.serve() })
  readonly #turn: TurnEvents | undefined
  readonly #calls: CallFeed | undefined
  /** The number of the last state of a call that was read (CALLS1). */
  #call = 0
  #place: number
  /** The number of events when it last read one. */
  #seen: number
  #first: Attached | undefined
  #detached = false
  /** Whether its chat has forgotten it. */
  #isForgotten = false

  /** Created by `chat.attach`. */
  constructor(feed: Feed, { place, first, turn, calls }: Beginning, options: LocalAttachOptions) {
    super()
    const { whenSlow, maxUnread = defaultMaxUnread, signal } = options
    this.#feed = feed
    this.#place = place
    this.#first = first
    this.#turn = turn
    this.#calls = calls
    this.#seen = feed.log.count
    this.#maxUnread = whenSlow === "snapshot" ? maxUnread : Number.POSITIVE_INFINITY
    this.#signal = signal
    signal?.addEventListener("abort", this.#onAbort)
    if (signal?.aborted === true) this.#detach()
    else if (turn !== undefined) this.#await(turn)
  }

  next(): Promise<Next<A>> {
    return this.#reads.next()
  }

  /** Detaches; the chat continues. */
  return(): Promise<Next<A>> {
    this.#detach()
    return this.#reads.return()
  }

  /** What `pick` finds in the newest event before its place, also in one that it has not read; `undefined` if the log has none. */
  findEarlier<B>(pick: (event: Event) => B | undefined): B | undefined {
    return this.#feed.log.findBefore(this.#place, pick)
  }

  /** The place of its first unread event; `Infinity` if it needs no event of the log. */
  get unreadFrom(): number {
    const { log } = this.#feed
    return log.hasLost(this.#place) || this.#isBehind ? Number.POSITIVE_INFINITY : this.#place
  }

  /** Resolves pending reads, as far as there is something to read. */
  readonly serve = (): void => {
    while (this.#reads.isAwaited) {
      const item = this.#take()
      if (item !== undefined) this.#reads.push(item as A)
      else if (this.#turn?.isRead === true) this.#finish(this.#turn.error)
      else if (this.#feed.over) this.#finish(this.#feed.failure)
      else {
        if (this.#turn?.hasBegun !== false) this.#calls?.wait(this.serve)
        return
      }
    }
  }

  #finish(failure: unknown): void {
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

  #take(): Item | undefined {
    const { log } = this.#feed
    const turn = this.#turn
    if (turn?.hasBegun === false) return turn.takesSnapshot() ? this.#feed.snapshot() : undefined
    if (turn?.hasEnd === true) return undefined
    if (log.hasLost(this.#place) || this.#isBehind) {
      return turn?.over === true && !turn.takesSnapshot() ? undefined : this.#takeSnapshot()
    }
    const first = this.#first
    if (first !== undefined) {
      this.#first = undefined
      return first
    }
    const reading = log.readFrom(this.#place)
    if (reading === undefined) return turn?.takesSnapshot() === true ? this.#takeSnapshot() : this.#takeCall()
    this.#place = reading.end
    this.#seen = Math.max(this.#seen, reading.count)
    if (reading.event.type === "chat_completed") turn?.hasLast()
    return { type: "event", cursor: this.#feed.cursorAt(reading.end), event: reading.event }
  }

  /** Finds the place of the turn's first event when the turn begins, also if nothing is read. */
  #await(turn: TurnEvents): void {
    const look = (): void => {
      const place = turn.hasBegun ? undefined : turn.begins(this.#feed.log)
      if (place !== undefined) {
        this.#place = place
        this.#seen = this.#feed.log.count
      }
      this.serve()
    }
    look()
    turn.watch(look)
    const over = (): void => {
      // A reader whose turn never begins needs nothing more of its chat, also if it never reads.
      if (!turn.hasBegun) this.#forget()
      this.serve()
    }
    void turn.ended.then(over)
  }

  /** Takes what is left of a turn that is over, because its events are dropped. */
  takeRest(): void {
    if (this.#turn?.over !== true || this.#feed.log.hasLost(this.#place)) return
    for (let item = this.#take(); item !== undefined; item = this.#take()) this.#reads.push(item as A)
    this.#finish(this.#turn.error)
    this.#detach()
  }

  #takeCall(): CallItem | undefined {
    const next = this.#calls?.after(this.#call)
    if (next === undefined) return undefined
    this.#call = next.version
    return { type: "call", call: next.report }
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
    this.#forget()
    this.#reads.end()
  }

  #forget(): void {
    if (this.#isForgotten) return
    this.#isForgotten = true
    this.#turn?.leave()
    this.#calls?.leave(this.serve)
    this.#feed.forget(this, this.#calls !== undefined)
  }
}
