/**
 * Reads a turn for a client, from its first event: the turn of its input, or the running turn.
 *
 * FOLLOWTURN1. Every request with an input, also one that was sent before or by the program, reads its turn from the first event,
 *              whenever it begins. No reader takes events from another one. When a reader leaves, only the reading ends.
 * FOLLOWTURN3. When a turn brings decisions and a message behind them, its reader gets the decided calls as a state, once they have
 *              run, and then the events of the reply to the message.
 * FOLLOWTURN4. When the running turn ends before its reader begins to read, the reader gets its end.
 * FOLLOWTURN6. A reader whose turn was cut at a former home, and is not resumed here, gets the error `moved`: the turn has not ended.
 * FOLLOWTURN5. A reader whose message waits behind a turn that ends and waits for a person gets an error that says so (HELDUP1).
 */
import type { LocalChatRef } from "@troupe/chat"
import type { Attached, CallItem, ChatSnapshot, LiveTurn } from "@troupe/chat/chats"
import { ChatView } from "@troupe/chat/view"
import { SessionError } from "@troupe/chat/errors"
import type { Event } from "@troupe/chat/events"
import { type Call, refused, SourceFrames, type Text } from "../http/index.ts"
import type { HttpError } from "../errors/index.ts"
import { heldUpIn, placeOfTurn, resultOfTurn } from "../link/index.ts"
import { isRunning, type Standing, standingOf } from "./chatReply.ts"

/** Makes the frames of a client: each function returns text for the wire. */
export interface Follower {
  /** The request: its filter of events, contexts and standings, and whether its turn has begun at a former home. */
  readonly call: Pick<Call, "shown" | "isAgain">
  /** The reply before the turn, and the messages before the reply. Sent when the turn is sent from its beginning. */
  readonly before: (reply: Standing["before"], earlier: Standing["earlier"]) => Text
  readonly event: (event: Event) => Text
  /** The state of a call that the chat reports beside the events. Without it, no states are read. */
  readonly report?: ((report: CallItem["call"]) => Text) | undefined
  /** The current state of the chat, whose turn continues. */
  readonly standing: (context: ChatSnapshot["context"], standing: Standing) => Text
  /** The turn is over, and its end was missed. */
  readonly over: (context: ChatSnapshot["context"], standing: Standing) => Text
  readonly failed: (error: unknown) => string
}

/** The frames of a turn for one client, who leaves with `return`. */
type TurnFrames = AsyncIterableIterator<string, undefined>

/** Whether an input was sent before, and its turn is over. */
export const isRepeated = (turn: LiveTurn): boolean => {
  const error = turn.failure?.error
  return error instanceof SessionError && error.reason === "already_delivered"
}

/** The items of a chat for one reader. */
type ReadItems = ReturnType<LocalChatRef["attach"]>

/** A turn that a request has begun, or sent again. */
export interface BegunTurn {
  readonly turn: LiveTurn
  readonly items: ReadItems
}

/**
 * Reads a turn from the tick in which it was sent. The reader leaves with `items.return()`, or when its turn is over before it has begun.
 * `calls`: with the states of calls.
 */
export const begunTurn = (chat: LocalChatRef, turn: LiveTurn, calls = false): BegunTurn => {
  turn.detach()
  return { turn, items: chat.attach({ turn, calls }) }
}

/**
 * The frames of a turn. `standing` returns the reply that the turn continues, if the client gets it. With `isPatient` the reader gets a
 * state when the turn begins to wait for a person, in place of an error.
 */
export const ofTurn = (
  { turn, items }: BegunTurn,
  follower: Follower,
  { standing, isPatient = false }: { readonly standing?: () => Standing; readonly isPatient?: boolean } = {}
): TurnFrames =>
  framesOf(items, follower, standing, (context) => {
    if (turn.over) return "over"
    const why = heldUpIn(context, turn.id)
    return isPatient || why === undefined ? "standing" : why
  })

/** Sends a turn of answers from its first request on, behind the state of the chat there (FOLLOWTURN3). */
export const behindCalls = (follower: Follower, standing: () => Standing): Follower => {
  let place: "calls" | "request" | "reply" = "calls"
  return {
    ...follower,
    standing: (...state) => {
      place = "reply"
      return follower.standing(...state)
    },
    event: (event) => {
      if (place === "reply") return follower.event(event)
      if (place === "calls" && event.type !== "chat_completed") {
        if (event.type === "step_completed") place = "request"
        return ""
      }
      place = "reply"
      const { before, earlier } = standing()
      return inOrder(follower.before(before, earlier), () => follower.event(event))
    }
  }
}

const inOrder = async (first: Text, next: () => Text): Promise<string> => {
  const text = await first
  return text + (await next())
}

/** How a state is shown: of a running or waiting turn, of one that is over, or as an error. */
type Shows = "standing" | "over" | HttpError

/** The frames for a client. `standing` returns the reply before the first event, if the client gets it. */
const framesOf = (
  items: ReadItems,
  follower: Follower,
  standing: (() => Standing) | undefined,
  showsAs: (context: ChatSnapshot["context"]) => Shows,
  ended?: () => string
): TurnFrames => {
  const { shown } = follower.call
  const eventOf = shown.events(items)
  let before = standing
  const textOf = (given: Event): Text => {
    const event = eventOf(given)
    if (before === undefined) return follower.event(event)
    const reply = before()
    before = undefined
    return inOrder(follower.before(beginningOf(reply, given), reply.earlier), () => follower.event(event))
  }
  const item = (read: Attached | CallItem, end: () => void): Text => {
    switch (read.type) {
      case "call":
        return follower.report?.(shown.report(read.call)) ?? ""
      case "event":
        if (read.event.type === "chat_completed") end()
        return textOf(read.event)
      case "snapshot": {
        before = undefined
        const now = shown.context(read.snapshot.context)
        const shows = showsAs(now)
        if (shows === "standing") return follower.standing(now, standingOf(now))
        end()
        return shows === "over" ? overText(now, follower) : follower.failed(shows)
      }
    }
  }
  return new SourceFrames(items, { item, failed: follower.failed, ended })
}

/** Whether the turn of a request was cut at a former home, and is not resumed (FOLLOWTURN6). */
export const isCut = ({ isAgain }: Pick<Call, "isAgain">, context: ChatSnapshot["context"] | undefined): boolean =>
  isAgain && context?.interrupted !== undefined && !isRunning(context)

/** The text for a turn that does not run. */
const overText = (context: ChatSnapshot["context"], follower: Follower, standing = standingOf(context)): Text =>
  isCut(follower.call, context) ? follower.failed(refused("moved")) : follower.over(context, standing)

async function* only(text: () => Text): AsyncGenerator<string, undefined> {
  yield await text()
  return undefined
}

/** The frames of the running turn, with the reply it continues, or of the last reply. `context` is what the client sees. */
export const ofChat = (chat: LocalChatRef, context: ChatSnapshot["context"], follower: Follower): TurnFrames => {
  if (!isRunning(context)) return only(() => overText(context, follower))
  const items = chat.attach({ cursor: "turn", calls: follower.report !== undefined })
  // The turn may have ended since the context was read: then the attachment has no event of it (FOLLOWTURN4).
  const present = follower.call.shown.snapshot(chat.getSnapshot())?.context ?? context
  if (!isRunning(present)) {
    void items.return()
    return only(() => overText(present, follower))
  }
  const standing = (): Standing => standingOf(present)
  const shows = (now: ChatSnapshot["context"]): Shows => (isRunning(now) ? "standing" : "over")
  const stopped = (): string => follower.failed(new SessionError("chat_stopped", "The chat was stopped"))
  return framesOf(items, follower, standing, shows, stopped)
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
