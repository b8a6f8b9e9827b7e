/**
 * The run of a turn that a request of chat completions has begun at a former home of its conversation (FORWARD9).
 *
 * Owns: the reading of the turn. Does not own the turn.
 */
import type { LocalChatRef } from "@troupe/chat"
import type { LiveTurn } from "@troupe/chat/chats"
import type { Event } from "@troupe/chat/events"
import type { Message } from "@troupe/chat/messages"
import { type Call, refused } from "../../http/index.ts"
import { contextAt, type Follower, isRepeated, ofChat, ofSaidAgain, stepsOf } from "../../wire/index.ts"
import { eventsOfStep } from "../../wire/openAi/index.ts"
import type { Run } from "./openAiRun.ts"
import { eventsWithImages } from "./replyImages.ts"

/**
 * Reads the turn from its beginning: that of an input which was sent again under its id, or the running turn, or the last one. `given`
 * are the calls whose results have begun it: the client has the steps up to theirs.
 */
export const begunRun = async (
  call: Call,
  chat: LocalChatRef,
  turn?: LiveTurn,
  given: ReadonlyArray<string> = []
): Promise<Run> => {
  if (turn !== undefined && turn.claim()) await turn.return()
  await turn?.receipt
  const context =
    turn === undefined ? call.shown.snapshot(chat.getSnapshot())?.context : await contextAt(call, chat, turn.id)
  if (context === undefined) throw refused("chat_stopped")
  const left = new AbortController()
  const follower = followerOf(call, given)
  const read =
    turn === undefined || isRepeated(turn)
      ? ofChat(chat, context, follower, left.signal)
      : ofSaidAgain(chat, turn, follower, left.signal)
  const items = flat(read)
  return {
    events: eventsWithImages(call, chat, {
      next: () => items.next(),
      return: () => {
        left.abort()
        return items.return(undefined)
      }
    }),
    reads: { chat, turn }
  }
}

async function* flat(read: AsyncIterable<ReadonlyArray<Event>>): AsyncGenerator<Event, undefined> {
  for await (const events of read) yield* events
  return undefined
}

const followerOf = (call: Call, given: ReadonlyArray<string>): Follower<Event> => {
  const events = (reply: ReadonlyArray<Message.Message>): ReadonlyArray<Event> => {
    const steps = stepsOf(reply)
    const own = 1 + steps.findLastIndex(({ said }) => (said.toolCalls ?? []).some(({ id }) => given.includes(id)))
    return steps.slice(own).flatMap(eventsOfStep)
  }
  return {
    call,
    before: events,
    event: (event) => [event],
    // The events of the turn are missed: it is read again.
    standing: () => {
      throw refused("moved", { retryAfterMs: 1_000 })
    },
    over: ({ result }, { now }) => {
      // The turn was cut, and was not resumed.
      if (result === undefined) throw refused("moved", { retryAfterMs: 1_000 })
      return [...events(now), { type: "chat_completed", result }]
    },
    failed: (error) => {
      throw error
    }
  }
}
