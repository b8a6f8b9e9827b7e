/**
 * The events of a live chat, for attached readers.
 *
 * Owns: the log, its readers, and the id that the cursors of this chat object share. Does not own a reader's place.
 *
 * FEED1. An event is kept once for all readers, and waiting readers are notified. A chat that never had a reader keeps no
 *        events between its turns, because no cursor could lead there. Without readers the log is not written: the newest
 *        events, up to a bound, are kept unmerged until a reader asks for them.
 * FEED2. A cursor of this chat object leads to its place. Any other cursor gets a snapshot, and an invalid one is refused.
 * FEED3. When the chat's process dies, its uncommitted events are undone: when the next process is up, every reader gets a
 *        snapshot.
 */
import { type Finding, isRecord, SessionError, unknownOption, ValidationError } from "../errors/index.ts"
import type { Event } from "../events/index.ts"
import { Attachment, type Beginning, type Reader } from "./attachmentReader.ts"
import { EventLog } from "./eventLog.ts"
import type { LiveView } from "./liveView.ts"
import type { Attached, CallItem, Cursor, LocalAttachOptions } from "./attachOptions.ts"
import { TurnEvents } from "./turnEvents.ts"
import * as ChatView from "./ChatView.ts"
import type { ChatSnapshot } from "./liveView.ts"

/** The most events that are kept unmerged. */
const maxUnlogged = 128

const lost: Beginning = { place: -1, first: undefined }

export class LiveFeed {
  #log: EventLog | undefined
  #unlogged: Array<Event> | undefined
  readonly #view: LiveView
  /** Generates a unique id. */
  readonly #newId: () => string
  #readers: Set<Reader> | undefined
  #life: string | undefined
  #stage: "new" | "begun" | "over" = "new"
  #failure: SessionError | undefined

  constructor(view: LiveView, newId: () => string) {
    this.#view = view
    this.#newId = newId
  }

  /** The log of the latest events. */
  get log(): EventLog {
    const log = (this.#log ??= new EventLog(() => this.#slowest()))
    const unlogged = this.#unlogged
    if (unlogged === undefined) return log
    this.#unlogged = undefined
    for (const event of unlogged) log.append(event)
    return log
  }

  /** Whether the chat was stopped, or has left. */
  get over(): boolean {
    return this.#stage === "over"
  }

  /** The error of readers after their unread events, when the chat has left (ATT4). */
  get failure(): SessionError | undefined {
    return this.#failure
  }

  /** Handles a new event of the chat. Without readers or cursors, only the newest events are kept (FEED1). */
  published(event: Event): void {
    if (this.#life !== undefined || (this.#readers !== undefined && this.#readers.size > 0)) {
      this.log.append(event)
      this.#serve()
      return
    }
    const unlogged = (this.#unlogged ??= [])
    unlogged.push(event)
    if (event.type === "chat_completed") this.#forget()
    else if (unlogged.length >= maxUnlogged) void this.log
  }

  /** Drops the events of a turn. A log that has its beginning also gets its end. */
  #forget(): void {
    if (this.#log?.isAtRest === false) this.log.forget()
    else this.#unlogged = undefined
  }

  #slowest(): number {
    let slowest = Number.POSITIVE_INFINITY
    for (const { unreadFrom } of this.#readers ?? []) slowest = Math.min(slowest, unreadFrom)
    return slowest
  }

  /** Whether a reader is attached. */
  get isRead(): boolean {
    return this.#readers !== undefined && this.#readers.size > 0
  }

  /** Drops all events: their places are lost. */
  forgetAll(): void {
    this.#unlogged = undefined
    this.#log?.clear()
  }

  /** Called when the chat has a process (FEED3). */
  attached(): void {
    if (this.#stage !== "new") {
      for (const reader of Array.from(this.#readers ?? [])) reader.takeRest()
      this.forgetAll()
    }
    if (this.#stage === "new") this.#stage = "begun"
    this.#serve()
  }

  /**
   * Ends the readers because the chat was stopped, or fails them because it has left; unread events can still be read.
   */
  end(failure?: SessionError): void {
    this.#stage = "over"
    this.#failure = failure
    for (const reader of Array.from(this.#readers ?? [])) reader.ended()
    this.#readers = undefined
  }

  attach<A extends Attached | CallItem>(id: string, options: LocalAttachOptions): Attachment<A> {
    checkAttach(options, id)
    const reader = new Attachment<A>(this, this.#beginningOf(id, options), options)
    if (this.#stage === "over") reader.fail(this.#failure ?? chatStopped(id))
    else if (options.signal?.aborted !== true) (this.#readers ??= new Set()).add(reader)
    return reader
  }

  /** Removes a detached reader. */
  forget(reader: Reader, readsCalls: boolean): void {
    this.#readers?.delete(reader)
    if (readsCalls) this.#view.leaveCalls()
  }

  cursorAt(place: number): Cursor {
    this.#life ??= this.#newId()
    return `${this.#life}.${place}`
  }

  /** The present state of the chat; `undefined` before it had a process. */
  snapshot(): Attached | undefined {
    const snapshot = this.#view.snapshot()
    return snapshot === undefined ? undefined : new SnapshotItem(this.cursorAt(this.log.end), snapshot)
  }

  #beginningOf(id: string, { cursor, turn, calls }: LocalAttachOptions): Beginning {
    return {
      ...(turn === undefined ? this.#placeOf(cursor) : { place: this.log.end, first: undefined }),
      ...(turn !== undefined && { turn: new TurnEvents(turn, this.#view.state) }),
      ...(calls === true && { calls: this.#view.readCalls(id) })
    }
  }

  #placeOf(cursor: string | undefined): Beginning {
    if (cursor === undefined) return { place: this.log.end, first: this.snapshot() }
    if (cursor === "turn") return { place: this.log.turnStart, first: undefined }
    const place = placeOf(cursor)
    return place !== undefined && cursor === this.cursorAt(place) ? { place, first: undefined } : lost
  }

  #serve(): void {
    if (this.#readers !== undefined) for (const reader of this.#readers) reader.serve()
  }
}

/** A snapshot for a reader; its view is made when it is read. */
class SnapshotItem {
  readonly type = "snapshot"
  readonly cursor: Cursor
  readonly snapshot: ChatSnapshot

  constructor(cursor: Cursor, snapshot: ChatSnapshot) {
    this.cursor = cursor
    this.snapshot = snapshot
  }

  get view(): ChatView.ChatView {
    return ChatView.of(this.snapshot.context.id, this.snapshot)
  }
}

/** The error of a stopped chat. */
export const chatStopped = (id: string): SessionError =>
  new SessionError(
    "chat_stopped",
    `The chat ${id} was stopped; troupe.chat("${id}") of a running Troupe returns a new handle`
  )

/** The error of a chat that has left (`LocalChatRef.leave`). */
export const chatMoved = (id: string): SessionError =>
  new SessionError(
    "moved",
    `The chat ${id} has left this process, and its state is stored; troupe.chat("${id}") returns the chat that goes on`
  )

const noCursor: Finding = { field: ["cursor"], reason: "must_be_a_cursor_that_came_with_an_item" }

const shape = /^[\da-f-]{36}-\d+\.(?<place>\d{1,16})$/u

const placeOf = (cursor: unknown): number | undefined => {
  const place = typeof cursor === "string" ? shape.exec(cursor)?.groups?.["place"] : undefined
  return place === undefined ? undefined : Number(place)
}

const known: ReadonlySet<string> = new Set(["cursor", "whenSlow", "maxUnread", "signal", "turn", "calls"])

/** Throws a `ValidationError` for invalid options of a reader. `chat` is the id of the chat, if it is one of this program. */
export const checkAttach = (options: LocalAttachOptions, chat?: string): void => {
  const given: unknown = options
  if (!isRecord(given)) {
    throw new ValidationError("invalid_options", [{ field: [], reason: "must_be_an_object of options" }])
  }
  const { cursor, whenSlow, maxUnread, signal, turn, calls } = options
  const found: Array<Finding> = Object.keys(options)
    .filter((key) => !known.has(key))
    .map((key) => ({ field: [key], reason: unknownOption(key, known, `use ${[...known].join(", ")}`) }))
  if (cursor !== undefined && cursor !== "turn" && placeOf(cursor) === undefined) found.push(noCursor)
  if (whenSlow !== undefined && whenSlow !== "coalesce" && whenSlow !== "snapshot") {
    found.push({ field: ["whenSlow"], reason: "must_be_one_of coalesce, snapshot" })
  }
  if (maxUnread !== undefined && (!Number.isSafeInteger(maxUnread) || maxUnread < 1)) {
    found.push({ field: ["maxUnread"], reason: "must_be_a_positive_integer" })
  }
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    found.push({ field: ["signal"], reason: "must_be_an_AbortSignal" })
  }
  if (turn !== undefined && cursor !== undefined)
    found.push({ field: ["cursor"], reason: "must_be_left_out beside turn, whose reader begins with its first event" })
  if (chat === undefined) {
    for (const [name, reason] of Object.entries(ofProgram))
      if (given[name] !== undefined) found.push({ field: [name], reason })
  } else {
    if (turn !== undefined && !isTurnOf(chat, turn))
      found.push({ field: ["turn"], reason: "must_be_a_turn that send of this chat returned" })
    if (calls !== undefined && typeof calls !== "boolean")
      found.push({ field: ["calls"], reason: "must_be_true_or_false" })
  }
  if (found.length > 0) throw new ValidationError("invalid_options", found)
}

/** The refusals of the options that only a reader in the program of the chat has. */
const ofProgram = {
  turn: 'must_be_left_out in a cluster; read the turn that send returned, or give cursor: "turn"',
  calls: "must_be_left_out in a cluster; read toolCalls of the view"
}

const isTurnOf = (chat: string, turn: unknown): boolean =>
  isRecord(turn) && turn["chat"] === chat && typeof turn["id"] === "string" && "over" in turn
