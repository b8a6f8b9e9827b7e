/** Random acts on one chat, and readers of every kind: complete, slow, leaving early, of results only. */
import type { LocalChatRef } from "@troupe/chat"
import type { Event } from "@troupe/chat/events"
import type { Decision } from "@troupe/chat/tools"
import { type Chance, pick, type Some } from "../chance.ts"
import type { Counts } from "../check/counts.ts"

const decisions: Some<Decision> = [
  { type: "allow" },
  { type: "deny" },
  { type: "halt" },
  { type: "result", value: "by hand" }
]

const ignored = (): void => {
  // Nothing is noted, or the act was too late: the call, the turn or the chat was over.
}

/** Acts by chance, which are counted. */
export const actsOf = (chance: Chance, sleep: (ms: number) => Promise<void>, counts: Counts) => {
  const readSome = async <A>(
    items: AsyncIterable<A>,
    most: number,
    pause: number,
    note: (item: A) => void = ignored
  ) => {
    let left = most
    try {
      for await (const item of items) {
        note(item)
        if ((left -= 1) <= 0) return
        if (pause > 0) await sleep(pause)
      }
    } catch {
      // The failure of a turn is counted with its result, and an attached chat may have been stopped.
    }
  }

  const readEvents = (events: AsyncIterable<Event>, most: number, pause: number): Promise<void> => {
    const ended = new Set<string>()
    return readSome(events, most, pause, (event) => {
      if (event.type !== "tool_execution_completed") return
      if (ended.has(event.id)) counts.add("outcomes twice in a turn")
      ended.add(event.id)
      counts.add(`outcome ${event.outcome}`)
    })
  }

  /** Reads a turn in a random way; resolves when the turn is over. */
  const read = (turn: AsyncIterable<Event> & { readonly result: () => Promise<unknown> }): Promise<void> =>
    counts.during("turns", async () => {
      const kind = chance()
      const most = kind < 0.3 ? Math.floor(chance() * 6) : Number.POSITIVE_INFINITY
      const pause = kind > 0.8 ? 1 + chance() * 3 : 0
      const over = turn.result().then(
        () => counts.add("turns with a result"),
        () => counts.add("turns that failed")
      )
      if (kind < 0.6) await readEvents(turn, most, pause)
      await over
    })

  return {
    read,

    retry: async (chat: LocalChatRef): Promise<void> => {
      const waits = (chat.getSnapshot()?.context.pendingToolCalls.length ?? 0) > 0
      if (!waits && chat.thread.messages.length > 0) await read(chat.retry())
    },

    /** Cancels the turn, or ends the wait; a store that fails then, and the end of the chat, are no fault. */
    cancel: (chat: LocalChatRef): Promise<void> => counts.during("cancels", () => chat.cancel().then(ignored, ignored)),

    /** Withdraws an input that waits. */
    withdraw: (chat: LocalChatRef): Promise<void> => {
      const [first] = chat.getSnapshot()?.context.inbox ?? []
      return counts.during("withdrawals", async () => {
        if (first !== undefined) await chat.withdraw(first.id).then(() => counts.add("inputs withdrawn"), ignored)
      })
    },

    /** Cancels or restarts one tool call, or cancels all. */
    control: (chat: LocalChatRef): Promise<void> => {
      const [first] = chat.getSnapshot()?.context.toolCalls.filter(({ status }) => status === "running") ?? []
      const kind = chance()
      const act = async (): Promise<unknown> => {
        if (first === undefined || kind < 0.2) return chat.cancelToolCalls()
        return kind < 0.6 ? chat.cancelToolCall(first.id) : chat.restartToolCall(first.id)
      }
      return counts.during("verbs for calls", () => act().then(ignored, ignored))
    },

    /** Decides about the calls that wait for that, gives the results that the chat waits for, and answers its question with a text of its own. */
    answer: async (chat: LocalChatRef, text: () => string): Promise<void> => {
      const { pendingApprovals = [], pendingToolCalls = [], phase } = chat.getSnapshot()?.context ?? {}
      const turns = pendingApprovals.map(({ toolCall }) => chat.approve(toolCall.id, pick(chance, decisions)))
      if (phase === "awaitingTools" && turns.length === 0 && pendingToolCalls.length > 0) {
        turns.push(chat.submitToolResults(Object.fromEntries(pendingToolCalls.map(({ id }) => [id, "done"]))))
      }
      if (phase === "awaitingUser") turns.push(chat.send(text()))
      await Promise.all(turns.map(read))
    },

    /** Reads a stream of a functional run in a random way: to the end, or leaves early. */
    stream: (opening: Promise<AsyncIterable<Event>>): Promise<void> =>
      counts.during("streams", async () => {
        const most = chance() < 0.4 ? Math.floor(chance() * 8) : Number.POSITIVE_INFINITY
        const events = await opening.catch(ignored)
        if (events !== undefined) await readEvents(events, most, chance() < 0.3 ? chance() * 3 : 0)
      }),

    /** Subscribes for some time. */
    subscribe: (chat: LocalChatRef, ms: number): Promise<void> =>
      counts.during("subscriptions", async () => {
        const subscription = chat.subscribe(ignored)
        await sleep(ms)
        subscription.unsubscribe()
      }),

    /** Attaches for some time, and reads slowly. */
    attach: (chat: LocalChatRef): Promise<void> =>
      counts.during("attachments", async () => {
        const most = Math.floor(chance() * 60)
        const pause = chance() < 0.3 ? chance() * 4 : 0
        const attachment = chat.attach({ maxUnread: 20, whenSlow: chance() < 0.5 ? "coalesce" : "snapshot" })
        const leave = sleep(30 + chance() * 200).then(() => attachment.return())
        await readSome(attachment, most, pause)
        await leave
      })
  }
}
