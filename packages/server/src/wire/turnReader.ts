/**
 * Reads a turn for a client: the sender's own turn, or the running turn from its beginning.
 *
 * FOLLOWTURN1. The sender of a turn reads its live events once. A request with the same input again, also one that the program has
 *              sent, waits for the turn, and reads it from its beginning like any other reader. It takes no events from the first reader.
 * FOLLOWTURN2. When a reader leaves, only the reading ends.
 * FOLLOWTURN3. Of turns that a sender began one after another, the reader gets the events of all and one end: that of the
 *              first turn after which the next one cannot begin.
 * FOLLOWTURN4. When the running turn ends before its reader begins to read, the reader gets its end.
 * FOLLOWTURN6. A reader whose turn was cut at a former home, and is not resumed here, gets the error `moved`: the turn has not ended.
 * FOLLOWTURN5. A reader whose message waits behind a turn that ends and waits for a person gets an error that says so (HELDUP1).
 */
import type { LocalChatRef } from "@troupe/chat"
import type { ChatResult, ChatSnapshot, LiveTurn } from "@troupe/chat/chats"
import { ChatView } from "@troupe/chat/view"
import { SessionError } from "@troupe/chat/errors"
import type { Event } from "@troupe/chat/events"
import { type Call, refused } from "../http/index.ts"
import { placeOfTurn, resultOfTurn, whenHeldUp } from "../link/index.ts"
import { isRunning, type Standing, standingOf } from "./chatReply.ts"

/** Items for the wire, at once or later. */
export type Items<Item> = ReadonlyArray<Item> | Promise<ReadonlyArray<Item>>

/** Converts events for a client: each function returns items for the wire. */
export interface Follower<Item> {
  /** The request: its filter of events, contexts and standings, and whether its turn has begun at a former home. */
  readonly call: Pick<Call, "shown" | "isAgain">
  /** The reply before the turn, and the messages before the reply. Sent when the turn is sent from its beginning. */
  readonly before: (reply: Standing["before"], earlier: Standing["earlier"]) => Items<Item>
  readonly event: (event: Event) => Items<Item>
  /** The current state of the chat, whose turn continues. */
  readonly standing: (context: ChatSnapshot["context"], standing: Standing) => Items<Item>
  /** The turn is over, and its end was missed. */
  readonly over: (context: ChatSnapshot["context"], standing: Standing) => Items<Item>
  readonly failed: (error: unknown) => ReadonlyArray<Item>
}

/** Whether an input was sent before, and its turn is over. */
export const isRepeated = (turn: LiveTurn): boolean => {
  const error = turn.failure?.error
  return error instanceof SessionError && error.reason === "already_delivered"
}

/**
 * A sender's turn, until the signal is aborted because the client is gone. `standing` is the reply that the turn continues,
 * if the client gets it.
 */
export async function* ofTurn<Item>(
  turn: AsyncIterableIterator<Event, undefined>,
  follower: Follower<Item>,
  signal: AbortSignal,
  standing?: Standing
): AsyncGenerator<ReadonlyArray<Item>, void> {
  let before = standing
  const shown = follower.call.shown.events()
  const leave = (): void => void turn.return?.()
  if (signal.aborted) leave()
  signal.addEventListener("abort", leave, { once: true })
  try {
    for await (const event of turn) {
      if (before !== undefined) yield follower.before(beginningOf(before, event), before.earlier)
      before = undefined
      yield follower.event(shown(event))
    }
  } catch (error) {
    yield follower.failed(error)
  } finally {
    signal.removeEventListener("abort", leave)
  }
}

/** Whether the chat can begin this turn, of tool results or of a message, after a turn with this result. */
const canFollow = (
  { turn: { messages } }: LiveTurn,
  { pendingApprovals = [], pendingToolCalls }: ChatResult
): boolean => pendingApprovals.length === 0 && pendingToolCalls.length > 0 === (messages[0]?.role === "tool")

/** The turns of one sender: of decisions, then of the results of the remaining calls, then of a message (FOLLOWTURN3). */
export async function* ofTurns<Item>(
  turns: ReadonlyArray<LiveTurn>,
  follower: Follower<Item>,
  signal: AbortSignal
): AsyncGenerator<ReadonlyArray<Item>, void> {
  for (const [index, turn] of turns.entries()) {
    const next = turns[index + 1]
    let goesOn = false
    const event = (one: Event): Items<Item> => {
      goesOn = one.type === "chat_completed" && next !== undefined && canFollow(next, one.result)
      return goesOn ? [] : follower.event(one)
    }
    yield* ofTurn(turn, { ...follower, event }, signal)
    if (goesOn) continue
    for (const rest of turns.slice(index + 1)) void rest.return()
    return
  }
}

/** Whether the turn of a request was cut at a former home, and is not resumed (FOLLOWTURN6). */
export const isCut = ({ isAgain }: Pick<Call, "isAgain">, context: ChatSnapshot["context"] | undefined): boolean =>
  isAgain && context?.interrupted !== undefined && !isRunning(context)

/** The items of a turn that does not run. */
const ended = <Item>(
  context: ChatSnapshot["context"],
  follower: Follower<Item>,
  standing = standingOf(context)
): Items<Item> => (isCut(follower.call, context) ? follower.failed(refused("moved")) : follower.over(context, standing))

/** The running turn, with the reply it continues, or the last reply. `context` is what the client sees. */
export async function* ofChat<Item>(
  chat: LocalChatRef,
  context: ChatSnapshot["context"],
  follower: Follower<Item>,
  signal: AbortSignal
): AsyncGenerator<ReadonlyArray<Item>, void> {
  if (!isRunning(context)) return yield ended(context, follower)
  const items = chat.attach({ cursor: "turn", signal })
  // The turn may have ended since the context was read: then the attachment has no event of it (FOLLOWTURN4).
  const present = follower.call.shown.snapshot(chat.getSnapshot())?.context ?? context
  if (!isRunning(present)) {
    void items.return()
    return yield ended(present, follower)
  }
  let before: Standing | undefined = standingOf(present)
  const shown = follower.call.shown.events(chat)
  try {
    for await (const item of items) {
      if (item.type === "event") {
        if (before !== undefined) yield follower.before(beginningOf(before, item.event), before.earlier)
        before = undefined
        yield follower.event(shown(item.event))
        if (item.event.type === "chat_completed") return
      } else {
        before = undefined
        const now = follower.call.shown.context(item.snapshot.context)
        const standing = standingOf(now)
        if (!isRunning(now)) return yield ended(now, follower, standing)
        yield follower.standing(now, standing)
      }
    }
    if (!signal.aborted) yield follower.failed(new SessionError("chat_stopped", "The chat was stopped"))
  } catch (error) {
    yield follower.failed(error)
  }
}

/**
 * Another sender's turn, from its beginning. A queued turn is awaited (FOLLOWTURN1). With `isPatient` it is awaited also while the
 * chat waits for a person.
 */
export async function* ofSaidAgain<Item>(
  chat: LocalChatRef,
  turn: LiveTurn,
  follower: Follower<Item>,
  signal: AbortSignal,
  isPatient = false
): AsyncGenerator<ReadonlyArray<Item>, void> {
  const why = await begun(chat, turn, signal, isPatient)
  if (why !== undefined) yield follower.failed(why)
  if (why !== undefined || signal.aborted) return
  const context = follower.call.shown.snapshot(chat.getSnapshot())?.context
  if (turn.failure !== undefined) yield follower.failed(turn.failure.error)
  else if (context !== undefined) yield* ofChat(chat, context, follower, signal)
}

/** Resolves when the input is in the thread or never will be, when the signal is aborted, or with an error (HELDUP1). */
const begun = async (
  chat: LocalChatRef,
  turn: LiveTurn,
  signal: AbortSignal,
  isPatient: boolean
): Promise<Error | undefined> => {
  const gone = Promise.withResolvers<Error | undefined>()
  const leave = (): void => gone.resolve(undefined)
  if (signal.aborted) leave()
  signal.addEventListener("abort", leave, { once: true })
  const unwatch = isPatient ? undefined : whenHeldUp(chat, turn, gone.resolve)
  void Promise.race([turn.delivery, turn.ended]).then(leave)
  const why = await gone.promise
  unwatch?.()
  signal.removeEventListener("abort", leave)
  return why
}

/**
 * The state of a chat at the end of the turn that took this input, as the client sees it; the present state while the turn has not
 * ended. A former process of the chat may have ended the turn.
 */
export const contextAt = async (
  { troupe, shown }: Pick<Call, "troupe" | "shown">,
  chat: LocalChatRef,
  input: string
): Promise<ChatSnapshot["context"] | undefined> => {
  const place = await placeOfTurn(input, (options) => troupe.history(chat.id, options))
  const snapshot = shown.snapshot(chat.getSnapshot())
  if (snapshot === undefined || place === undefined) return snapshot?.context
  const { context } = snapshot
  const isKnown = context.interrupted !== undefined || context.result !== undefined || isRunning(context)
  if (place.to === undefined && isKnown) return context
  const result = shown.result(resultOfTurn(ChatView.of(chat.id, snapshot), place))
  const { thread } = context
  return {
    ...context,
    turn: undefined,
    steps: [],
    result,
    thread: { ...thread, messages: thread.messages.slice(0, place.to) }
  }
}

/** A turn that continues the calls of a step does not send their message. */
const beginningOf = ({ before, opened }: Standing, { type }: Event): Standing["before"] =>
  type.startsWith("tool_execution") ? opened : before
