/** Readers of every kind: complete, slow, leaving early, of results only; and subscribers. */
import type { LocalChatRef } from "@troupe/chat"
import type { Event } from "@troupe/chat/events"
import type { Chance } from "./chance.ts"
import type { Ledger } from "./ledger.ts"

/** The sleep function of the readers. */
export type Sleep = (ms: number) => Promise<void>

/** Reads a turn in a random way; resolves when the turn is over. */
export const readTurn = async (
  turn: AsyncIterable<Event> & { readonly result: () => Promise<unknown> },
  chance: Chance,
  sleep: Sleep,
  ledger: Ledger
): Promise<void> => {
  ledger.add("turns")
  const kind = chance()
  const most = kind < 0.3 ? Math.floor(chance() * 6) : Number.POSITIVE_INFINITY
  const pause = kind > 0.8 ? 1 + chance() * 3 : 0
  const over = turn.result().then(
    () => ledger.add("turns with a result"),
    () => ledger.add("turns that failed")
  )
  if (kind < 0.6) await readEvents(turn, most, pause, sleep, ledger)
  await over
}

const readEvents = async (
  events: AsyncIterable<Event>,
  most: number,
  pause: number,
  sleep: Sleep,
  ledger: Ledger
): Promise<void> => {
  const ended = new Set<string>()
  let read = 0
  try {
    for await (const event of events) {
      if (event.type === "tool_execution_completed") {
        if (ended.has(event.id)) ledger.add("outcomes twice in a turn")
        ended.add(event.id)
        ledger.add(`outcome ${event.outcome}`)
      }
      if ((read += 1) >= most) return
      if (pause > 0) await sleep(pause)
    }
  } catch {
    // The turn's failure is counted with its result.
  }
}

/** Reads a stream of a functional run in a random way: to the end, or leaves early. */
export const readStream = async (
  opening: Promise<AsyncIterable<Event>>,
  chance: Chance,
  sleep: Sleep,
  ledger: Ledger
): Promise<void> => {
  ledger.add("streams")
  const most = chance() < 0.4 ? Math.floor(chance() * 8) : Number.POSITIVE_INFINITY
  await opening.then(
    (events) => readEvents(events, most, chance() < 0.3 ? chance() * 3 : 0, sleep, ledger),
    () => undefined
  )
  ledger.add("streams over")
}

/** Subscribes for some time. */
export const subscribe = async (chat: LocalChatRef, ms: number, sleep: Sleep, ledger: Ledger): Promise<void> => {
  ledger.add("subscriptions")
  let open = true
  const close = (): void => {
    if (open) ledger.add("subscriptions over")
    open = false
  }
  const subscription = chat.subscribe({ complete: close })
  await sleep(ms)
  subscription.unsubscribe()
  close()
}

/** Attaches for some time, and reads slowly. */
export const attach = async (chat: LocalChatRef, chance: Chance, sleep: Sleep, ledger: Ledger): Promise<void> => {
  ledger.add("attachments")
  let left = Math.floor(chance() * 60)
  const pause = chance() < 0.3 ? chance() * 4 : 0
  const options = { maxUnread: 20, whenSlow: chance() < 0.5 ? ("coalesce" as const) : ("snapshot" as const) }
  const attachment = chat.attach(options)
  const leave = sleep(30 + chance() * 200).then(() => attachment.return())
  try {
    for await (const _ of attachment) {
      if ((left -= 1) <= 0) break
      if (pause > 0) await sleep(pause)
    }
  } catch {
    // The chat had been stopped before.
  }
  await leave
  ledger.add("attachments over")
}
