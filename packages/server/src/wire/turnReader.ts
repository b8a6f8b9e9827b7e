/**
 * Follows a turn for a client: the sender's own, or the one that runs, from its beginning.
 *
 * FOLLOWTURN1. A turn is followed by its sender once; who says the same again reads it as any other: from its beginning, when
 *              its time has come, and takes nothing of it.
 * FOLLOWTURN2. Leaving ends nothing but the reading.
 */
import type { ChatRef } from "@troupe/chat/chats"
import type { Event } from "@troupe/chat/events"
import { SessionError } from "@troupe/chat"
import type { Shown } from "../access/index.ts"
import { isRunning, type Standing, standingOf } from "./chatReply.ts"

type Turn = ReturnType<ChatRef.ChatRef["send"]>

/** What a client is told with: each gives what goes to the wire. */
export interface Follower<Item> {
  /** What of the conversation the client sees: events, contexts and standings are given so. */
  readonly shown: Shown
  /** What the reply began with before the turn, and what came before the reply: told where that is told from its beginning. */
  readonly before: (reply: Standing["before"], earlier: Standing["earlier"]) => ReadonlyArray<Item>
  readonly event: (event: Event.Event) => ReadonlyArray<Item>
  /** The chat stands here, and the turn goes on. */
  readonly standing: (context: ChatRef.LiveContext, standing: Standing) => ReadonlyArray<Item>
  /** The turn is over, and its end was not heard. */
  readonly over: (context: ChatRef.LiveContext, standing: Standing) => ReadonlyArray<Item>
  readonly failed: (error: unknown) => ReadonlyArray<Item>
}

/** Turns whose events somebody reads (FOLLOWTURN1). */
const followed = new WeakSet<Turn>()

/** Whether a turn is this sender's to follow; from then on it is nobody else's. */
export const claim = (turn: Turn): boolean => {
  if (followed.has(turn)) return false
  followed.add(turn)
  return true
}

/** Whether an input was said before, and its turn is over. */
export const isRepeated = (turn: Turn): boolean => {
  const error = turn.failure?.error
  return error instanceof SessionError && error.reason === "already_delivered"
}

/** A sender's turn, until the signal says that the client is gone; `standing` is the reply it goes on with, where the client is to be told of that. */
export async function* ofTurn<Item>(
  turn: Turn,
  follower: Follower<Item>,
  signal: AbortSignal,
  standing?: Standing
): AsyncGenerator<ReadonlyArray<Item>, void> {
  let before = standing
  const shown = follower.shown.events()
  const leave = (): void => void turn.return()
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

/** `context` is what the client sees. The turn that runs, with the reply it goes on with, or the last reply. */
export async function* ofChat<Item>(
  chat: ChatRef.ChatRef,
  context: ChatRef.LiveContext,
  follower: Follower<Item>,
  signal: AbortSignal
): AsyncGenerator<ReadonlyArray<Item>, void> {
  if (!isRunning(context)) return yield follower.over(context, standingOf(context))
  let before: Standing | undefined = standingOf(context)
  const shown = follower.shown.events(chat)
  try {
    for await (const item of chat.attach({ cursor: "turn", signal })) {
      if (item.type === "event") {
        if (before !== undefined) yield follower.before(beginningOf(before, item.event), before.earlier)
        before = undefined
        yield follower.event(shown(item.event))
        if (item.event.type === "chat_completed") return
      } else {
        before = undefined
        const now = follower.shown.context(item.snapshot.context)
        const standing = standingOf(now)
        if (!isRunning(now)) return yield follower.over(now, standing)
        yield follower.standing(now, standing)
      }
    }
    if (!signal.aborted) yield follower.failed(new SessionError("chat_stopped", "The chat was stopped"))
  } catch (error) {
    yield follower.failed(error)
  }
}

/** A turn that is another sender's to follow, from its beginning; one that waits for its time is waited for (FOLLOWTURN1). */
export async function* ofSaidAgain<Item>(
  chat: ChatRef.ChatRef,
  turn: Turn,
  follower: Follower<Item>,
  signal: AbortSignal
): AsyncGenerator<ReadonlyArray<Item>, void> {
  await begun(turn, signal)
  if (signal.aborted) return
  const context = follower.shown.snapshot(chat.getSnapshot())?.context
  if (turn.failure !== undefined) yield follower.failed(turn.failure.error)
  else if (context !== undefined) yield* ofChat(chat, context, follower, signal)
}

/** Resolves when what was said is in the thread, or never will be, or nobody waits for it. */
const begun = async (turn: Turn, signal: AbortSignal): Promise<void> => {
  const gone = Promise.withResolvers<void>()
  const leave = (): void => gone.resolve()
  if (signal.aborted) leave()
  signal.addEventListener("abort", leave, { once: true })
  await Promise.race([turn.delivery, turn.ended, gone.promise])
  signal.removeEventListener("abort", leave)
}

/** A turn that goes on with the calls of a step says nothing of their message. */
const beginningOf = ({ before, opened }: Standing, { type }: Event.Event): Standing["before"] =>
  type.startsWith("tool_execution") ? opened : before
