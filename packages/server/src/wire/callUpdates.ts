/**
 * What there is to tell of tool calls between a chat's events: how they stand, how far they are, and that their handlers go on
 * though they are over.
 *
 * Owns: the subscription to the chat while calls run, one timer, and what was told. Does not own the calls, which it looks at.
 *
 * NEWS1. While no call runs there is neither a subscription nor a timer; a call that is over within the interval says nothing.
 * NEWS2. At most once in an interval, however much changes, and only of the newest; a reader that reads no more costs nothing.
 * NEWS3. Nothing is said of a call that the reader was not told of, nor twice the same; it is not replayed: who comes back gets
 *        what is so then.
 */
import type { ChatRef } from "@troupe/chat/chats"
import type { Event } from "@troupe/chat/events"
import type { Message } from "@troupe/chat/messages"
import type { Zombies } from "@troupe/chat/observe"
import type { Outcome } from "@troupe/chat/results"
import type { Clock } from "@troupe/otp"
import { type StepMessages, stepsOf } from "./chatReply.ts"

/**
 * How a call stands.
 *
 * - `queued`: it waits for its turn
 * - `running`: its handler runs
 * - `draining`: its handler was told to end, and is waited for
 * - `zombie`: the call is over, and its handler runs still
 * - `ended`: a handler that ran still has ended
 */
type CallState = "queued" | "running" | "draining" | "zombie" | "ended"

/** Something to tell. `progress` is what the handler said last, as JSON has it. */
export type CallNews =
  | { readonly type: "call"; readonly data: { readonly toolCallId: string; readonly state: CallState } }
  | { readonly type: "progress"; readonly data: { readonly toolCallId: string; readonly progress: unknown } }

type View = ChatRef.ToolCallView

/** How long changes gather, and how often is looked whether a late handler has ended, in milliseconds. */
const everyMs = 200
const lateMs = 1_000

/** Characters of JSON: what says more of its progress is not told. */
const longest = 4_096

const states: Readonly<Partial<Record<View["status"], CallState>>> = {
  queued: "queued",
  gating: "queued",
  running: "running",
  cancelling: "draining",
  restarting: "draining"
}

/** How calls end that may leave a handler behind. */
const mayBeLate: ReadonlySet<Outcome.Outcome> = new Set<Outcome.Outcome>(["timed_out", "cancelled"])

/** What is looked at: a chat, its system's clock, and the handlers that run still. */
export interface Watched {
  readonly chat: Pick<ChatRef.ChatRef, "id" | "subscribe" | "getSnapshot">
  readonly clock: Clock.Clock
  readonly zombies: () => ReadonlyArray<Zombies.Zombie>
}

export class CallWatch {
  readonly #watched: Watched
  /** The calls that the reader was told of and that are not over. */
  readonly #calls = new Set<string>()
  /** The calls that are over, and whose handlers may run still; and those of whom that was told. */
  readonly #late = new Set<string>()
  readonly #zombies = new Set<string>()
  readonly #sent = new Map<string, { state?: CallState; progress?: string }>()
  #subscribed: { readonly unsubscribe: () => void } | undefined
  #timer: unknown
  #isRead = false
  #isDue = false
  #due: PromiseWithResolvers<undefined> | undefined

  constructor(watched: Watched) {
    this.#watched = watched
  }

  /** Whether there may be something to tell, without an event. */
  get isOpen(): boolean {
    return this.#subscribed !== undefined
  }

  /** Resolves when it is time to look. */
  get due(): Promise<undefined> {
    this.#due ??= Promise.withResolvers<undefined>()
    if (this.#isDue) this.#due.resolve(undefined)
    return this.#due.promise
  }

  /** The calls that a reply goes on with, as far as they have no result. */
  goesOnWith(messages: ReadonlyArray<Message.Message>): void {
    const { said, behind = [] }: Partial<StepMessages> = stepsOf(messages).at(-1) ?? {}
    const given = new Set(behind.map((message) => (message.role === "tool" ? message.toolCallId : undefined)))
    for (const { id } of said?.toolCalls ?? []) if (!given.has(id)) this.#calls.add(id)
    if (this.#isRead && this.#calls.size > 0) this.#open()
  }

  /** There is a reader, which leaves. */
  begin(): void {
    this.#isRead = true
    if (this.#calls.size > 0) this.#open()
  }

  /** The reader is told of this event. */
  observe(event: Event.Event): void {
    switch (event.type) {
      case "tool_call_completed":
        this.#calls.add(event.id)
        return
      case "message_completed":
        if (this.#calls.size > 0) this.#open()
        return
      case "tool_execution_completed":
        this.#calls.delete(event.id)
        if (mayBeLate.has(event.outcome)) this.#late.add(event.id)
        return
      case "message_started":
      case "step_completed":
        return this.stepOver()
      default:
    }
  }

  /** The reader was told of no call of the running step. */
  stepOver(): void {
    this.#calls.clear()
    this.#sent.clear()
    if (this.#late.size === 0) this.leave()
  }

  /** What changed since it was last looked. */
  look(): ReadonlyArray<CallNews> {
    this.#isDue = false
    this.#due = undefined
    const calls = this.#watched.chat.getSnapshot()?.context.toolCalls ?? []
    const news = [...calls.flatMap((call) => (this.#calls.has(call.id) ? this.#newsOf(call) : [])), ...this.#lateNews()]
    if (this.#late.size > 0) this.#arm(lateMs)
    else if (this.#calls.size === 0) this.leave()
    return news
  }

  /** Nobody is told any more, until calls run again. */
  leave(): void {
    if (this.#subscribed === undefined) return
    this.#subscribed.unsubscribe()
    this.#subscribed = undefined
    this.#watched.clock.clearTimeout(this.#timer)
    this.#timer = undefined
    this.#isDue = false
    this.#due = undefined
  }

  #open(): void {
    this.#subscribed ??= this.#watched.chat.subscribe(() => this.#arm(everyMs))
    this.#arm(everyMs)
  }

  #arm(ms: number): void {
    if (this.#timer !== undefined || this.#isDue || this.#subscribed === undefined) return
    this.#timer = this.#watched.clock.setTimeout(() => {
      this.#timer = undefined
      this.#isDue = true
      this.#due?.resolve(undefined)
    }, ms)
  }

  #newsOf({ id: toolCallId, status, progress }: View): ReadonlyArray<CallNews> {
    const state = states[status]
    if (state === undefined) return []
    const sent = this.#sent.get(toolCallId) ?? {}
    const text = progress === undefined ? undefined : jsonOf(progress)
    const news: Array<CallNews> = []
    if (state !== sent.state) news.push({ type: "call", data: { toolCallId, state } })
    if (text !== undefined && text !== sent.progress) {
      news.push({ type: "progress", data: { toolCallId, progress: JSON.parse(text) } })
      sent.progress = text
    }
    sent.state = state
    this.#sent.set(toolCallId, sent)
    return news
  }

  #lateNews(): ReadonlyArray<CallNews> {
    if (this.#late.size === 0) return []
    const { chat, zombies } = this.#watched
    const listed = new Set(
      zombies().flatMap(({ sessionId, outcome, toolCallId }) =>
        sessionId === chat.id && outcome !== "restarted" ? [toolCallId] : []
      )
    )
    return Array.from(this.#late).flatMap((toolCallId): ReadonlyArray<CallNews> => {
      const wasSent = this.#zombies.has(toolCallId)
      if (listed.has(toolCallId)) {
        this.#zombies.add(toolCallId)
        return wasSent ? [] : [{ type: "call", data: { toolCallId, state: "zombie" } }]
      }
      this.#late.delete(toolCallId)
      this.#zombies.delete(toolCallId)
      return wasSent ? [{ type: "call", data: { toolCallId, state: "ended" } }] : []
    })
  }
}

/** What JSON has no word for is not told, nor what is too long. */
const jsonOf = (progress: unknown): string | undefined => {
  try {
    const text: string | undefined = JSON.stringify(progress)
    return text === undefined || text.length > longest ? undefined : text
  } catch {
    return undefined
  }
}
