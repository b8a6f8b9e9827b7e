/**
 * A living chat's events, for those who attach.
 *
 * Owns: the log, who reads it, and the name of this life of the chat's address. Does not own a reader's place.
 *
 * FEED1. What a chat says is kept once, however many read, and told to those who wait. A chat that nobody ever attached to
 *        keeps nothing between its turns: there is no cursor that could lead there. While nobody reads, its log is not
 *        written: the newest events, up to a bound, are kept as they came, until somebody asks for them.
 * FEED2. A cursor leads to the place it was given for, in this life; any other is answered with a snapshot, and what is
 *        no cursor is refused.
 * FEED3. What the chat's process said and did not commit is undone when the process dies: when the next one is up, every
 *        reader gets a snapshot.
 */
import { type Finding, isRecord, SessionError, unknownOption, ValidationError } from "../errors/index.ts"
import type { Event } from "../events/index.ts"
import { Attachment, type Beginning } from "./attachmentReader.ts"
import { EventLog } from "./eventLog.ts"
import type { LiveView } from "./liveView.ts"
import type { Attached, AttachOptions, Cursor } from "./attachOptions.ts"

/** So many events are kept as they came before the log merges them. */
const maxUnlogged = 128

const lost: Beginning = { place: -1, first: undefined }

export class LiveFeed {
  #log: EventLog | undefined
  #unlogged: Array<Event> = []
  readonly #view: LiveView
  /** An id like no other. */
  readonly #newId: () => string
  readonly #readers = new Set<Attachment>()
  readonly #waiting = new Set<Attachment>()
  #life: string | undefined
  #over = false
  #hadProcess = false

  constructor(view: LiveView, newId: () => string) {
    this.#view = view
    this.#newId = newId
  }

  /** All that was said lately. */
  get log(): EventLog {
    const log = (this.#log ??= new EventLog(() => this.#slowest()))
    const unlogged = this.#unlogged
    if (unlogged.length === 0) return log
    this.#unlogged = []
    for (const event of unlogged) log.append(event)
    return log
  }

  /** Whether the chat was stopped. */
  get over(): boolean {
    return this.#over
  }

  /** The chat said something (FEED1). */
  published(event: Event): void {
    if (this.#life === undefined && this.#readers.size === 0) return this.#keep(event)
    this.log.append(event)
    if (this.#waiting.size > 0) this.#serve()
  }

  /** Nobody reads, and nobody has a cursor (FEED1). */
  #keep(event: Event): void {
    this.#unlogged.push(event)
    if (event.type === "chat_completed") this.#forget()
    else if (this.#unlogged.length >= maxUnlogged) void this.log
  }

  /** What was said in a turn goes; a log that has its beginning hears of its end. */
  #forget(): void {
    if (this.#log?.isAtRest === false) this.log.forget()
    else this.#unlogged = []
  }

  #slowest(): number {
    let slowest = Number.POSITIVE_INFINITY
    for (const { unreadFrom } of this.#readers) slowest = Math.min(slowest, unreadFrom)
    return slowest
  }

  /** Whether somebody is attached. */
  get isRead(): boolean {
    return this.#readers.size > 0
  }

  /** What was said is not held any more: its places are lost. */
  forgetAll(): void {
    this.#unlogged = []
    this.#log?.clear()
  }

  /** The chat has a process (FEED3). */
  attached(): void {
    if (this.#hadProcess) this.forgetAll()
    this.#hadProcess = true
    this.#serve()
  }

  /** The chat was stopped: what is unread can be read, and then it is over. */
  end(): void {
    this.#over = true
    for (const reader of Array.from(this.#readers)) reader.ended()
    this.#readers.clear()
  }

  attach(id: string, options: AttachOptions): Attachment {
    check(options)
    const reader = new Attachment(this, this.#beginningOf(options.cursor), options)
    if (this.#over) reader.fail(chatStopped(id))
    else if (options.signal?.aborted !== true) this.#readers.add(reader)
    return reader
  }

  /** A reader waits to be told. */
  wait(reader: Attachment): void {
    this.#waiting.add(reader)
  }

  /** A reader waits no more. */
  forgetWaiting(reader: Attachment): void {
    this.#waiting.delete(reader)
  }

  /** A reader is gone. */
  forget(reader: Attachment): void {
    this.#readers.delete(reader)
    this.#waiting.delete(reader)
  }

  cursorAt(place: number): Cursor {
    this.#life ??= this.#newId()
    return `${this.#life}.${place}`
  }

  /** Where the chat stands; `undefined` before it had a process. */
  snapshot(): Attached | undefined {
    const snapshot = this.#view.snapshot()
    return snapshot === undefined ? undefined : { type: "snapshot", cursor: this.cursorAt(this.log.end), snapshot }
  }

  #beginningOf(cursor: string | undefined): Beginning {
    if (cursor === undefined) return { place: this.log.end, first: this.snapshot() }
    if (cursor === "turn") return { place: this.log.turnStart, first: undefined }
    const place = placeOf(cursor)
    if (place === undefined) throw new ValidationError("invalid_options", [noCursor])
    return cursor === this.cursorAt(place) ? { place, first: undefined } : lost
  }

  #serve(): void {
    for (const reader of Array.from(this.#waiting)) reader.serve()
  }
}

/** What is told of a chat that was stopped. */
export const chatStopped = (id: string): SessionError =>
  new SessionError("chat_stopped", `The chat ${id} was stopped; troupe.chat("${id}") starts it again`)

const noCursor: Finding = { field: ["cursor"], reason: "must_be_a_cursor_that_came_with_an_item" }

const shape = /^[\da-f-]{36}-\d+\.(?<place>\d{1,16})$/u

const placeOf = (cursor: unknown): number | undefined => {
  const place = typeof cursor === "string" ? shape.exec(cursor)?.groups?.["place"] : undefined
  return place === undefined ? undefined : Number(place)
}

const known: ReadonlySet<string> = new Set(["cursor", "whenSlow", "maxUnread", "signal"])

const check = (options: AttachOptions): void => {
  const given: unknown = options
  if (!isRecord(given)) {
    throw new ValidationError("invalid_options", [{ field: [], reason: "must_be_an_object of options" }])
  }
  const { whenSlow, maxUnread, signal } = options
  const found: Array<Finding> = Object.keys(options)
    .filter((key) => !known.has(key))
    .map((key) => ({ field: [key], reason: unknownOption(key, known) }))
  if (whenSlow !== undefined && whenSlow !== "coalesce" && whenSlow !== "snapshot") {
    found.push({ field: ["whenSlow"], reason: "must_be_one_of coalesce, snapshot" })
  }
  if (maxUnread !== undefined && (!Number.isSafeInteger(maxUnread) || maxUnread < 1)) {
    found.push({ field: ["maxUnread"], reason: "must_be_a_positive_integer" })
  }
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    found.push({ field: ["signal"], reason: "must_be_an_AbortSignal" })
  }
  if (found.length > 0) throw new ValidationError("invalid_options", found)
}
