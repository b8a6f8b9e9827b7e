/**
 * The waiting turns of a chat (inputs and others), as data.
 *
 * Owns: the order of the turns. Does not own whether a turn may begin (`refusalOf`), the storage (`inboxSaves.ts`)
 * or the receipts (`inputReceipt.ts`).
 *
 * MAIL1. Interrupts run first, then queued turns; each in order of arrival.
 * MAIL2. An input that could not steer its running turn is queued ahead of all queued turns.
 * MAIL3. Inputs that were accepted before the last restart of the chat are held until they are released. Then they are
 *        queued, whatever their `whenBusy`: the turn to interrupt or to steer is over, and a new interrupt comes first.
 */
import type { InboxEntry } from "../record/index.ts"
import type { TurnData } from "./turnData.ts"

/** The waiting turns, each line in order, and the held inputs. */
export interface Mailbox {
  readonly interrupts: ReadonlyArray<TurnData>
  /** The turns that wait to join the running turn. */
  readonly steers: ReadonlyArray<TurnData>
  readonly queue: ReadonlyArray<TurnData>
  /** The end of the queue: adding a turn to a long queue copies this short list. */
  readonly recent: ReadonlyArray<TurnData>
  /** The inputs from before the last restart (MAIL3). */
  readonly held: ReadonlyArray<InboxEntry>
}

export const empty: Mailbox = { interrupts: [], steers: [], queue: [], recent: [], held: [] }

const mostRecent = 64

/** A mailbox that holds the inputs of a record. */
export const holding = (held: ReadonlyArray<InboxEntry> = []): Mailbox =>
  held.length === 0 ? empty : { ...empty, held }

/** The waiting turns, in the order of their lines. */
export const turns = ({ interrupts, steers, queue, recent }: Mailbox): ReadonlyArray<TurnData> => [
  ...interrupts,
  ...steers,
  ...queue,
  ...recent
]

/** The next turn to run. */
export const next = ({ interrupts, queue, recent }: Mailbox): TurnData | undefined =>
  interrupts[0] ?? queue[0] ?? recent[0]

/** Adds a turn at the place of its `whenBusy`. */
export const add = (mailbox: Mailbox, turn: TurnData): Mailbox => {
  const released = release(mailbox, turn)
  const { interrupts, steers, queue, recent } = released
  switch (turn.whenBusy) {
    case "interrupt":
      return { ...released, interrupts: [...interrupts, turn] }
    case "steer":
      return { ...released, steers: [...steers, turn] }
    default:
      return recent.length < mostRecent
        ? { ...released, recent: [...recent, turn] }
        : { ...released, queue: [...queue, ...recent], recent: [turn] }
  }
}

/** Removes the next turn. */
export const withoutNext = (mailbox: Mailbox): Mailbox => {
  const { interrupts, queue, recent } = mailbox
  if (interrupts.length > 0) return { ...mailbox, interrupts: interrupts.slice(1) }
  return queue.length > 0 ? { ...mailbox, queue: queue.slice(1) } : { ...mailbox, recent: recent.slice(1) }
}

/** Queues the steering turns, since the running turn is over (MAIL2). */
export const turnEnded = (mailbox: Mailbox): Mailbox => {
  const { steers, queue } = mailbox
  return steers.length === 0 ? mailbox : { ...mailbox, queue: [...steers, ...queue], steers: [] }
}

/** Removes the turns with these ids. */
export const without = (mailbox: Mailbox, ids: ReadonlyArray<string>): Mailbox => {
  if (ids.length === 0) return mailbox
  const leaving = new Set(ids)
  const keeps = ({ id }: TurnData): boolean => !leaving.has(id)
  const { interrupts, steers, queue, recent, held } = mailbox
  return {
    interrupts: interrupts.filter(keeps),
    steers: steers.filter(keeps),
    queue: queue.filter(keeps),
    recent: recent.filter(keeps),
    held
  }
}

/** The ids of this list whose turns wait. */
export const among = (mailbox: Mailbox, ids: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (ids.length === 0) return ids
  const waiting = new Set(turns(mailbox).map(({ id }) => id))
  return ids.filter((id) => waiting.has(id))
}

/** Holds the input of this turn until `release`. */
export const hold = (mailbox: Mailbox, turn: TurnData): Mailbox => ({
  ...mailbox,
  held: [...mailbox.held, ...entryOf(turn)]
})

/** Removes the held input of this turn: the turn has it from now on. */
export const release = (mailbox: Mailbox, turn: TurnData): Mailbox =>
  mailbox.held.length === 0 ? mailbox : { ...mailbox, held: mailbox.held.filter(({ id }) => id !== turn.id) }

const listed = new WeakMap<Mailbox, ReadonlyArray<InboxEntry>>()

/** The waiting inputs in their stored form; retries and tool results are not inputs. */
export const entries = (mailbox: Mailbox): ReadonlyArray<InboxEntry> => {
  const known = listed.get(mailbox)
  if (known !== undefined) return known
  const all = [...mailbox.held, ...turns(mailbox).flatMap(entryOf)]
  listed.set(mailbox, all)
  return all
}

/** The input of a turn, if it has a sender and a user message. */
const entryOf = ({ id, named, receipt, whenBusy = "queue", messages }: TurnData): ReadonlyArray<InboxEntry> => {
  const [message] = messages
  if (receipt === undefined || message?.role !== "user") return []
  return [{ id, whenBusy, message, ...(named === true ? { named } : {}) }]
}
