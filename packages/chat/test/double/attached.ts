/** Reads what a chat says to those who attach. */
import type { Attachment } from "../../src/view/attachmentReader.ts"
import type { Event } from "../../src/events/Event.ts"
import type { Attached } from "../../src/view/attachOptions.ts"

/** Reads up to the first item that is wanted, and goes on being attached. */
export const readUntil = async (
  attached: Attachment,
  isLast: (item: Attached) => boolean
): Promise<ReadonlyArray<Attached>> => {
  const read: Array<Attached> = []
  for (;;) {
    const next = await attached.next()
    if (next.done === true) return read
    read.push(next.value)
    if (isLast(next.value)) return read
  }
}

/** Whether an item ends a turn. */
export const endsTurn = (item: Attached): boolean => item.type === "event" && item.event.type === "chat_completed"

/** Whether an item is a snapshot. */
export const isSnapshot = (item: Attached): boolean => item.type === "snapshot"

/** The events of what was read. */
export const eventsOf = (items: ReadonlyArray<Attached>): ReadonlyArray<Event> =>
  items.flatMap((item) => (item.type === "event" ? [item.event] : []))

/** What items are, in one word each. */
export const wordsOf = (items: ReadonlyArray<Attached>): ReadonlyArray<string> =>
  items.map((item) => (item.type === "event" ? item.event.type : item.type))
