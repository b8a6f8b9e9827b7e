/**
 * The inbox of a chat: one list of the turns that are accepted and not in the stored thread, each with one status.
 *
 * Owns: the order and the status of the turns. Does not own whether a turn may begin (`refusalOf`), the rows of the store,
 * which exist before an input is in this list, or the receipts (`inputReceipt.ts`).
 *
 * MAIL1. Interrupts run first, then queued turns; each in the order of acceptance.
 * MAIL2. An input that could not steer its running turn is queued ahead of all queued turns.
 * MAIL3. A held input runs after its release only. Then it is queued, whatever its `whenBusy`: the turn to interrupt or to
 *        steer is over, and a new interrupt comes first.
 */
import type { InboxEntry, WhenBusy } from "../record/index.ts"
import { isInput, type TurnData } from "./turnData.ts"

/**
 * The status of a turn in the inbox.
 *
 * - `held`: it was accepted before the last restart of the chat, and waits for its release
 * - `failed`: its beginning could not be stored; it waits for its release, and a retry runs it
 * - `doubted`: the store gave no answer when it was accepted; it waits for its release, and is then accepted again
 * - `waiting`: it waits for its turn, or to join the running one
 * - `taken`: it is in the thread, and the store does not have that yet
 * - `delivered`: the stored thread has it; the next commit removes its row
 * - `withdrawn`: its sender took it back; its row is removed when no commit takes an input
 */
type WaitStatus = "held" | "failed" | "doubted" | "waiting" | "taken" | "delivered" | "withdrawn"

/** A turn in the inbox. */
export interface WaitingTurn extends TurnData {
  readonly status: WaitStatus
  /** The request of a withdrawal. */
  readonly ask?: number | undefined
}

/** A withdrawn turn, and the request. The store has a row of an input only. */
export interface Discarded {
  readonly id: string
  readonly ask: number | undefined
  readonly hasRow: boolean
}

/** The turns that wait for a release come first; the others are in the order of acceptance. */
export type Inbox = ReadonlyArray<WaitingTurn>

export const empty: Inbox = []

/** Whether the turn waits for its release. */
export const isHeld = ({ status }: Pick<WaitingTurn, "status">): boolean =>
  status === "held" || status === "failed" || status === "doubted"

/** Items in the order in which they run: interrupts, then steering inputs, then the queue. */
export const inLines = <A>(items: ReadonlyArray<A>, whenBusy: (item: A) => WhenBusy | undefined): ReadonlyArray<A> => {
  if (items.length < 2) return items
  const { interrupt = [], steer = [], queue = [] } = Object.groupBy(items, (item) => whenBusy(item) ?? "queue")
  return [...interrupt, ...steer, ...queue]
}

/** The inbox of a chat that starts with these stored inputs; some may be in its thread already. */
export const holding = (inputs: ReadonlyArray<InboxEntry>, inThread: ReadonlySet<string>): Inbox =>
  inLines(inputs, ({ whenBusy }) => whenBusy).map(({ message, ...input }) => ({
    ...input,
    messages: [message],
    followed: true,
    status: inThread.has(input.id) ? "delivered" : "held"
  }))

/** The next turn to run. */
export const next = (inbox: Inbox): WaitingTurn | undefined => {
  let steer: WaitingTurn | undefined
  let queued: WaitingTurn | undefined
  for (const turn of inbox) {
    if (turn.status !== "waiting") continue
    if (turn.whenBusy === "interrupt") return turn
    if (turn.whenBusy === "steer") steer ??= turn
    else queued ??= turn
  }
  return steer ?? queued
}

/** Adds a turn that waits. If it was held, that is its release. `concat` copies a long list much faster than a spread. */
export const add = (inbox: Inbox, turn: TurnData): Inbox =>
  released(inbox, turn.id).concat({ ...turn, status: "waiting" })

/** How an input that began no turn waits for its release. */
export type Holding = Extract<WaitStatus, "failed" | "doubted">

/** Adds a turn that waits for its release. */
export const hold = (inbox: Inbox, turn: TurnData, status: Holding): Inbox => {
  const end = inbox.findIndex((other) => !isHeld(other))
  return (end === -1 ? inbox : inbox.slice(0, end)).concat({ ...turn, status }, end === -1 ? [] : inbox.slice(end))
}

/** Reads the held turns only, so that adding to a long list costs no search. */
const released = (inbox: Inbox, id: string): Inbox => {
  for (const turn of inbox) {
    if (turn.id === id) return inbox.filter((other) => other.id !== id)
    if (!isHeld(turn)) break
  }
  return inbox
}

/** Removes a turn of this list. */
export const without = (inbox: Inbox, turn: TurnData): Inbox => inbox.filter((other) => other !== turn)

/** Whether this input waits, so that it can be withdrawn. */
export const isWaiting = (inbox: Inbox, id: string): boolean =>
  inbox.some((turn) => turn.id === id && (turn.status === "waiting" || isHeld(turn)))

/** Marks an input that waits as withdrawn. */
export const withdraw = (inbox: Inbox, { id, ask }: Pick<Discarded, "id" | "ask">): Inbox =>
  inbox.map((turn) => (turn.id === id ? { ...turn, status: "withdrawn", ask } : turn))

const isWithdrawn = ({ status }: WaitingTurn): boolean => status === "withdrawn"

/** The withdrawn turns, which are to be removed with their rows. */
export const discarded = (inbox: Inbox): ReadonlyArray<Discarded> =>
  inbox.filter(isWithdrawn).map((turn) => ({ id: turn.id, ask: turn.ask, hasRow: isInput(turn) }))

/** The inbox without the withdrawn turns. */
export const withoutDiscarded = (inbox: Inbox): Inbox => inbox.filter((turn) => !isWithdrawn(turn))

/** Takes a turn, which may have waited here. */
export const take = (inbox: Inbox, turn: TurnData): Inbox => [
  ...inbox.filter(({ id }) => id !== turn.id),
  { ...turn, status: "taken" }
]

const steers = ({ status, whenBusy }: WaitingTurn): boolean => status === "waiting" && whenBusy === "steer"

/** The turns that wait to join the running turn. */
export const steering = (inbox: Inbox): Inbox => inbox.filter(steers)

export const hasSteers = (inbox: Inbox): boolean => inbox.some(steers)

export const hasInterrupts = (inbox: Inbox): boolean =>
  inbox.some(({ status, whenBusy }) => status === "waiting" && whenBusy === "interrupt")

/** Takes the turns that wait to join the running turn. */
export const takeSteers = (inbox: Inbox): Inbox => changed(inbox, steers, "taken")

/** The turns that are taken. */
export const taken = (inbox: Inbox): Inbox => inbox.filter(isTaken)

const isTaken = ({ status }: WaitingTurn): boolean => status === "taken"

/** Whether the store has the row of the turn's input. */
export const hasRow = (turn: TurnData): boolean => isInput(turn) && turn.direct !== true

/** The ids of the inputs whose rows a commit removes: one that began without a row may have got one after a commit that failed. */
export const takes = (inbox: Inbox): ReadonlyArray<string> =>
  inbox.flatMap((turn) => ((isTaken(turn) || turn.status === "delivered") && isInput(turn) ? [turn.id] : []))

/** The inbox after a commit: the stored thread has the taken inputs. */
export const committed = (inbox: Inbox): Inbox => {
  const left = inbox.filter((turn) => !isTaken(turn) && turn.status !== "delivered")
  if (left.length === inbox.length) return inbox
  return left.length === 0 ? empty : left
}

/** The inbox after a commit failed that was to begin a turn: its input waits for its release, if the store has its row. */
export const failed = (inbox: Inbox): Inbox => {
  const left: Inbox = inbox.filter((turn) => !isTaken(turn))
  return taken(inbox)
    .filter(hasRow)
    .reduce((held, turn) => hold(held, turn, "failed"), left)
}

/** The inbox after a commit failed that had steering inputs: they wait again. */
export const waitingAgain = (inbox: Inbox): Inbox => changed(inbox, isTaken, "waiting")

/** The inbox after a turn: the steering inputs that wait are queued (MAIL2). */
export const turnEnded = (inbox: Inbox): Inbox => {
  if (!hasSteers(inbox)) return inbox
  const first = inbox.filter(steers).map((turn): WaitingTurn => ({ ...turn, whenBusy: "queue" }))
  return [...inbox.filter(isHeld), ...first, ...inbox.filter((turn) => !isHeld(turn) && !steers(turn))]
}

const changed = (inbox: Inbox, isMeant: (turn: WaitingTurn) => boolean, status: WaitStatus): Inbox =>
  inbox.map((turn) => (isMeant(turn) ? { ...turn, status } : turn))

const listed = new WeakMap<Inbox, ReadonlyArray<InboxEntry>>()

/** The inputs that wait, in their stored form; retries and tool results are not inputs. */
export const entries = (inbox: Inbox): ReadonlyArray<InboxEntry> => {
  const known = listed.get(inbox)
  if (known !== undefined) return known
  const isOver = (turn: WaitingTurn): boolean => isTaken(turn) || isWithdrawn(turn) || turn.status === "delivered"
  const all = inbox.flatMap((turn) => (isOver(turn) ? [] : entryOf(turn)))
  listed.set(inbox, all)
  return all
}

/** The input of a turn in its stored form, if the turn has an input. */
export const entryOf = (turn: TurnData): ReadonlyArray<InboxEntry> => {
  const { id, named, whenBusy = "queue", messages, model, answers } = turn
  const [message] = messages
  if (!isInput(turn) || message?.role !== "user") return []
  const own = { ...(model !== undefined && { model }), ...(answers !== undefined && { answers }) }
  return [{ id, whenBusy, message, ...(named === true && { named }), ...own }]
}
