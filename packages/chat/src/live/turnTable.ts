/** Queries on the turns of one live chat that are not over. */
import type { ChatRecord, InboxEntry } from "../record/index.ts"
import type { Message } from "../model/index.ts"
import type { LiveTurn } from "./liveTurn.ts"

/** The running turn, or the first that was sent if none has begun. */
export const runningOf = (turns: Iterable<LiveTurn>): LiveTurn | undefined => {
  let first: LiveTurn | undefined
  for (const turn of turns) {
    if (turn.over) continue
    if (turn.turn.outlet.begun) return turn
    first ??= turn
  }
  return first
}

/** The messages of inputs that wait behind a running turn; `undefined` if no turn runs. */
export const waitingMessages = (
  turns: ReadonlyMap<string, LiveTurn>,
  held: ReadonlyArray<InboxEntry> = []
): ReadonlyArray<Message> | undefined => {
  const running = runningOf(turns.values())
  if (running === undefined) return undefined
  const waiting: Array<Message> = []
  for (const turn of turns.values()) {
    const [message] = turn.turn.messages
    const waits = turn.status === "sent" || turn.status === "pending"
    if (turn !== running && !turn.over && waits && message?.role === "user") waiting.push(message)
  }
  for (const { id, message } of held) if (!turns.has(id)) waiting.push(message)
  return waiting
}

/**
 * The turns that a new process starts, in order: interrupts, then steers, which are queued now, then the queue. A turn
 * whose input the process before had stored in the thread is delivered, and fails.
 */
export const sentAgain = (
  turns: ReadonlyMap<string, LiveTurn>,
  taken: ReadonlySet<string>,
  died: () => Error
): ReadonlyArray<LiveTurn> => {
  const left = [...turns.values()].filter(({ over }) => !over)
  for (const turn of left) {
    if (!taken.has(turn.id)) continue
    turn.turn.delivery?.deliver()
    turn.fail(died())
  }
  const lines = Object.groupBy(
    left.filter(({ id }) => !taken.has(id)),
    ({ turn }) => turn.delivery?.whenBusy ?? "queue"
  )
  const { interrupt = [], steer = [], queue = [] } = lines
  for (const { turn } of steer) if (turn.delivery !== undefined) turn.delivery.whenBusy = "queue"
  return [...interrupt, ...steer, ...queue]
}

/** Reads from the store the receipts of inputs whose process has ended. */
export const settleReceipts = async (
  turns: ReadonlyArray<LiveTurn>,
  kept: (withinMs: number) => Promise<ChatRecord | undefined>
): Promise<void> => {
  const open = turns.filter((turn) => turn.status === "sent" && !turn.over)
  const [first] = open
  if (first === undefined) return
  const record = await kept(first.turn.options.drainMs)
  const taken = new Set(record?.inputs)
  const waiting = new Set(record?.inbox?.map(({ id }) => id))
  for (const { id, turn } of open) {
    if (taken.has(id)) turn.delivery?.deliver()
    else if (waiting.has(id)) turn.delivery?.pend()
  }
}
