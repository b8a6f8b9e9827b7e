/**
 * The updates about tool calls for one stream: a fold of the states that a chat reports beside its events.
 *
 * Owns: which calls the client has, and what it got about them. Does not own the states, which `chat.attach` reports (CALLS1).
 *
 * NEWS1. A stream without a read that waits costs no timer. A call that ends within 200 ms of its beginning gives no update.
 * NEWS2. Updates are sent at most once in 200 ms, and only the newest. A reader that stops reading costs nothing.
 * NEWS3. Nothing is sent about a call that the reader does not have, and no update twice. Updates are not replayed: a
 *        reader that reconnects gets the current state.
 */
import type { CallItem } from "@troupe/chat/chats"
import type { Event } from "@troupe/chat/events"
import type { Message } from "@troupe/chat/messages"
import type { Outcome } from "@troupe/chat/results"
import { type StepMessages, stepsOf } from "./chatReply.ts"

type CallReport = CallItem["call"]

/** An update. `progress` is the handler's last progress report, as JSON. */
export type CallNews =
  | { readonly type: "call"; readonly data: { readonly toolCallId: string; readonly state: CallReport["status"] } }
  | { readonly type: "progress"; readonly data: { readonly toolCallId: string; readonly progress: unknown } }

/** The outcomes that may leave a zombie. */
const mayBeLate: ReadonlySet<Outcome> = new Set<Outcome>(["timed_out", "cancelled"])

/** The maximum characters of JSON: longer progress is not sent. */
const longest = 4_096

export class CallUpdates {
  /** The calls that the client has, with what it got about them. */
  readonly #calls = new Map<string, { state?: CallReport["status"]; progress?: string }>()

  /** Begins anew with the calls without a result of the reply that continues, which the client has. */
  continues(messages: ReadonlyArray<Message.Message>): void {
    this.#calls.clear()
    const { said, behind = [] }: Partial<StepMessages> = stepsOf(messages).at(-1) ?? {}
    const given = new Set(behind.map((message) => (message.role === "tool" ? message.toolCallId : undefined)))
    for (const { id } of said?.toolCalls ?? []) if (!given.has(id)) this.#calls.set(id, {})
  }

  /** Records an event that is sent to the client. */
  observe(event: Event): void {
    if (event.type === "tool_call_completed") this.#calls.set(event.id, {})
    else if (event.type === "tool_execution_completed" && !mayBeLate.has(event.outcome)) this.#calls.delete(event.id)
  }

  /** The updates of a reported state. */
  newsOf({ id: toolCallId, status: state, progress }: CallReport): ReadonlyArray<CallNews> {
    const sent = this.#calls.get(toolCallId)
    // A handler that ended before it was reported is over like any other.
    if (sent === undefined || (state === "ended" && sent.state !== "zombie")) return []
    const text = progress === undefined ? undefined : jsonOf(progress)
    const news: Array<CallNews> = []
    if (state !== sent.state) news.push({ type: "call", data: { toolCallId, state } })
    if (text !== undefined && text !== sent.progress) {
      news.push({ type: "progress", data: { toolCallId, progress: JSON.parse(text) } })
      sent.progress = text
    }
    sent.state = state
    return news
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
