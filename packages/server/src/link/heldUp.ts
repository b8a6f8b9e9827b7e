/**
 * The turn of a message that waits behind another turn, for a client that reads it.
 *
 * Owns: a subscription to the chat while the message waits. Does not own the turn.
 *
 * HELDUP1. When the turn before ends and waits for a decision or for tool results, the reading ends with the error
 *          `awaiting_approval` or `awaiting_tool_results`. The message stays accepted, and its turn runs later.
 * HELDUP2. When the message is delivered, its turn is over, or the reader leaves, the subscription ends.
 */
import type { LocalChatRef } from "@troupe/chat"
import type { ChatSnapshot, LiveTurn } from "@troupe/chat/chats"
import type { Event } from "@troupe/chat/events"
import { HttpError } from "../errors/index.ts"

/** Why the chat does not run the message of this id for now; `undefined` if it does, or will without a person. */
const reasonIn = (context: ChatSnapshot["context"] | undefined, id: string): HttpError | undefined => {
  if (context === undefined || context.turn !== undefined || context.inbox.every((input) => input.id !== id))
    return undefined
  const { pendingApprovals, pendingToolCalls } = context
  if (pendingApprovals.length > 0) return heldUp("awaiting_approval", "decisions about tool calls")
  if (pendingToolCalls.length > 0) return heldUp("awaiting_tool_results", "tool results")
  return undefined
}

const heldUp = (code: "awaiting_approval" | "awaiting_tool_results", what: string): HttpError =>
  new HttpError(
    code,
    `The message is in the conversation's inbox, and the conversation waits for ${what}; it is answered after that, so do not send it again`,
    { headers: HttpError.noResend }
  )

/** Calls `stop` at most once, with the reason (HELDUP1). Call the returned function when the reader leaves. */
export const whenHeldUp = (chat: LocalChatRef, turn: LiveTurn, stop: (why: HttpError) => void): (() => void) => {
  if (turn.status !== "pending") return () => {}
  let isOver = false
  const leave = (): void => {
    isOver = true
    unsubscribe()
  }
  const look = (): void => {
    const why = isOver ? undefined : reasonIn(chat.getSnapshot()?.context, turn.id)
    if (why === undefined) return
    leave()
    stop(why)
  }
  const { unsubscribe } = chat.subscribe({ next: look })
  void Promise.race([turn.delivery, turn.ended]).then(leave)
  look()
  return leave
}

/** The events of a turn, for one reader (HELDUP1). */
export const eventsOf = (chat: LocalChatRef, turn: LiveTurn): AsyncIterableIterator<Event, undefined> =>
  turn.status === "pending" ? new QueuedEvents(chat, turn) : turn

class QueuedEvents implements AsyncIterableIterator<Event, undefined> {
  readonly #chat: LocalChatRef
  readonly #turn: LiveTurn
  /** Set by the first `next`: a reader that never begins has no subscription. */
  #leave: (() => void) | undefined
  #why: HttpError | undefined

  constructor(chat: LocalChatRef, turn: LiveTurn) {
    this.#chat = chat
    this.#turn = turn
  }

  async next(): Promise<IteratorResult<Event, undefined>> {
    this.#leave ??= whenHeldUp(this.#chat, this.#turn, (why) => {
      this.#why = why
      void this.#turn.return()
    })
    const item = await this.#turn.next()
    const why = this.#why
    if (item.done !== true || why === undefined) return item
    this.#why = undefined
    throw why
  }

  return(): Promise<IteratorResult<Event, undefined>> {
    this.#leave?.()
    return this.#turn.return()
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}
