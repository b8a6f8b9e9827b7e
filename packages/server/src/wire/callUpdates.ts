/**
 * Updates about tool calls between a chat's events: their state, their progress, and handlers that still run after their
 * call ended (zombies).
 *
 * Owns: the subscription to the chat while calls run, one timer, and the record of sent updates. Does not own the calls,
 * which it reads.
 *
 * NEWS1. While no call runs there is neither a subscription nor a timer. A call that ends within the interval gives no
 *        update.
 * NEWS2. Updates are sent at most once an interval, and only the newest. A reader that stops reading costs nothing.
 * NEWS3. Nothing is sent about a call that the reader does not have, and no update twice. Updates are not replayed: a
 *        reader that reconnects gets the current state.
 */
import type { LocalChatRef } from "@troupe/chat"
import type { ToolCallView } from "@troupe/chat/chats"
import type { Event } from "@troupe/chat/events"
import type { Message } from "@troupe/chat/messages"
import type { Zombies } from "@troupe/chat/observe"
import type { Outcome } from "@troupe/chat/results"
import type { Clock } from "@troupe/otp"
import { type StepMessages, stepsOf } from "./chatReply.ts"

/**
 * The state of a call.
 *
 * - `queued`: it waits for its turn
 * - `running`: its handler runs
 * - `draining`: its handler was cancelled, and the call waits for its end
 * - `zombie`: the call is over, and its handler still runs
 * - `ended`: a handler that was a zombie has ended
 */
type CallState = "queued" | "running" | "draining" | "zombie" | "ended"

/** An update. `progress` is the handler's last progress report, as JSON. */
export type CallNews =
  | { readonly type: "call"; readonly data: { readonly toolCallId: string; readonly state: CallState } }
  | { readonly type: "progress"; readonly data: { readonly toolCallId: string; readonly progress: unknown } }

/** The interval that collects changes, and that checks whether a zombie has ended, in milliseconds. */
const everyMs = 200
const lateMs = 1_000

/** The maximum characters of JSON: longer progress is not sent. */
const longest = 4_096

const states: Readonly<Partial<Record<ToolCallView["status"], CallState>>> = {
  queued: "queued",
  gating: "queued",
  running: "running",
  cancelling: "draining",
  restarting: "draining"
}

/** The outcomes that may leave a zombie. */
const mayBeLate: ReadonlySet<Outcome> = new Set<Outcome>(["timed_out", "cancelled"])

/** What a watch reads: a chat, its system's clock, and the zombies. */
export interface Watched {
  readonly chat: Pick<LocalChatRef, "id" | "subscribe" | "getSnapshot">
  readonly clock: Clock.Clock
  readonly zombies: () => ReadonlyArray<Zombies.Zombie>
}

export class CallUpdates {
  readonly #watched: Watched
  /** The running calls that were sent to the reader. */
  readonly #calls = new Set<string>()
  /** The ended calls whose handlers may still run, and those whose zombie was sent. */
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

  /** Whether there may be an update without an event. */
  get isOpen(): boolean {
    return this.#subscribed !== undefined
  }

  /** Resolves at the next time to check for updates. */
  get due(): Promise<undefined> {
    this.#due ??= Promise.withResolvers<undefined>()
    if (this.#isDue) this.#due.resolve(undefined)
    return this.#due.promise
  }

  /** Adds the calls without a result of the reply that continues. */
  goesOnWith(messages: ReadonlyArray<Message.Message>): void {
    const { said, behind = [] }: Partial<StepMessages> = stepsOf(messages).at(-1) ?? {}
    const given = new Set(behind.map((message) => (message.role === "tool" ? message.toolCallId : undefined)))
    for (const { id } of said?.toolCalls ?? []) if (!given.has(id)) this.#calls.add(id)
    if (this.#isRead && this.#calls.size > 0) this.#open()
  }

  /** Starts for a reader. */
  begin(): void {
    this.#isRead = true
    if (this.#calls.size > 0) this.#open()
  }

  /** Records an event that is sent to the reader. */
  observe(event: Event): void {
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

  /** Forgets the calls of the running step. */
  stepOver(): void {
    this.#calls.clear()
    this.#sent.clear()
    if (this.#late.size === 0) this.leave()
  }

  /** Returns the changes since the last look. */
  look(): ReadonlyArray<CallNews> {
    this.#isDue = false
    this.#due = undefined
    const calls = this.#watched.chat.getSnapshot()?.context.toolCalls ?? []
    const news = [...calls.flatMap((call) => (this.#calls.has(call.id) ? this.#newsOf(call) : [])), ...this.#lateNews()]
    if (this.#late.size > 0) this.#arm(lateMs)
    else if (this.#calls.size === 0) this.leave()
    return news
  }

  /** Stops the timer and the subscription, until calls run again. */
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

  #newsOf({ id: toolCallId, status, progress }: ToolCallView): ReadonlyArray<CallNews> {
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

/** Progress that JSON cannot express, or that is too long, is not sent. */
const jsonOf = (progress: unknown): string | undefined => {
  try {
    const text: string | undefined = JSON.stringify(progress)
    return text === undefined || text.length > longest ? undefined : text
  } catch {
    return undefined
  }
}
