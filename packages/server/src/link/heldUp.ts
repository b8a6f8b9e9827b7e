/**
 * The turn of a message that waits behind another turn, for a client that reads it.
 *
 * Owns: a subscription to the chat while the message waits. Does not own the turn.
 *
 * HELDUP1. When the turn before ends and waits for a decision, for tool results or for an answer, the reading ends with the error
 *          `awaiting_approval`, `awaiting_tool_results` or `awaiting_user`. The message stays accepted, and its turn runs later.
 * HELDUP2. When the message is delivered, its turn is over, or the reader leaves, the subscription ends.
 * HELDUP3. A reader that follows its message through the wait gets one notice when the wait begins.
 */
import type { LocalChatRef } from "@troupe/chat"
import type { ChatSnapshot, LiveTurn } from "@troupe/chat/chats"
import type { Event } from "@troupe/chat/events"
import { HttpError } from "../errors/index.ts"

/** Why the chat does not run the message of this id for now; `undefined` if it does, or will without a person. */
const reasonIn = (context: ChatSnapshot["context"] | undefined, id: string): HttpError | undefined => {
  if (context === undefined || context.turn !== undefined || context.inbox.every((input) => input.id !== id))
    return undefined
  const { pendingApprovals, pendingToolCalls, pendingQuestion } = context
  if (pendingApprovals.length > 0) return heldUp("awaiting_approval", "decisions about tool calls")
  if (pendingToolCalls.length > 0) return heldUp("awaiting_tool_results", "tool results")
  if (pendingQuestion !== undefined)
    return heldUp("awaiting_user", "the answer to a question that it asked after this message")
  return undefined
}

const heldUp = (code: "awaiting_approval" | "awaiting_tool_results" | "awaiting_user", what: string): HttpError =>
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

/** The events of a turn, and `undefined` when its message begins to wait for a person (HELDUP3). */
export class FollowedEvents implements AsyncIterator<Event | undefined, undefined> {
  readonly #turn: LiveTurn
  readonly #begin: () => () => void
  #leave: (() => void) | undefined
  #waits: Promise<undefined> | undefined
  #next: Promise<IteratorResult<Event, undefined>> | undefined

  constructor(chat: LocalChatRef, turn: LiveTurn) {
    this.#turn = turn
    const { promise, resolve } = Promise.withResolvers<undefined>()
    this.#waits = turn.status === "pending" ? promise : undefined
    this.#begin = () => whenHeldUp(chat, turn, () => resolve(undefined))
  }

  async next(): Promise<IteratorResult<Event | undefined, undefined>> {
    this.#leave ??= this.#begin()
    this.#next ??= this.#turn.next()
    const item = await (this.#waits === undefined ? this.#next : Promise.race([this.#next, this.#waits]))
    if (item === undefined) this.#waits = undefined
    else this.#next = undefined
    return item ?? { done: false, value: undefined }
  }

  return(): Promise<IteratorResult<Event | undefined, undefined>> {
    this.#leave?.()
    return this.#turn.return()
  }
}

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
