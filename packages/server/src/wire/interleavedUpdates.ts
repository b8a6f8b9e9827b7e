/** Interleaves events with updates about tool calls. */
import type { LocalChatRef } from "@troupe/chat"
import type { Call } from "../http/index.ts"
import { type CallNews, CallUpdates, type Watched } from "./callUpdates.ts"
import type { Follower } from "./turnReader.ts"

/** Watches the calls of a chat for one stream. */
export const watchOf = ({ troupe, shown }: Call, chat: LocalChatRef): CallUpdates => {
  const seen: Watched["chat"] = {
    id: chat.id,
    subscribe: (observer) => chat.subscribe(observer),
    getSnapshot: () => shown.snapshot(chat.getSnapshot())
  }
  return new CallUpdates({ chat: seen, clock: troupe.system.clock, zombies: () => troupe.zombies() })
}

/** A follower that passes its reader's events to a watch too. */
export const watching = <Item>(follower: Follower<Item>, watch: CallUpdates): Follower<Item> => ({
  ...follower,
  before: (reply, earlier) => {
    watch.goesOnWith(reply)
    return follower.before(reply, earlier)
  },
  event: (event) => {
    watch.observe(event)
    return follower.event(event)
  },
  standing: (context, standing) => {
    watch.stepOver()
    return follower.standing(context, standing)
  }
})

/**
 * Yields the text for the wire of each event and, with a watch, of each update between events.
 *
 * While calls run, one item is requested ahead, and held while updates are sent.
 */
export async function* withNews<Item>(
  followed: AsyncIterable<ReadonlyArray<Item>>,
  watch: CallUpdates | undefined,
  { first, frames, notify, last }: Notifying<Item>
): AsyncGenerator<string, void> {
  const items = followed[Symbol.asyncIterator]()
  let asked: Promise<IteratorResult<ReadonlyArray<Item>>> | undefined
  try {
    watch?.begin()
    if (first !== "") yield first
    for (;;) {
      asked ??= items.next()
      const came = watch?.isOpen === true ? await Promise.race([asked, watch.due]) : await asked
      if (came === undefined) {
        const news = notify === undefined ? [] : (watch?.look() ?? []).map(notify)
        if (news.length > 0) yield frames(news)
      } else if (came.done === true) break
      else {
        asked = undefined
        if (came.value.length > 0) yield frames(came.value)
      }
    }
    if (last !== undefined) yield last
  } finally {
    watch?.leave()
    const left = items.return?.()
    await asked
    await left
  }
}

/** How items and updates become text. */
export interface Notifying<Item> {
  readonly first: string
  readonly frames: (items: ReadonlyArray<Item>) => string
  readonly notify: ((news: CallNews) => Item) | undefined
  readonly last?: string | undefined
}
