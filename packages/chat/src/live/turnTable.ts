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

/** The messages of inputs that are not in the thread, except the input of the running turn. */
export const waitingMessages = (
  turns: ReadonlyMap<string, LiveTurn>,
  running: LiveTurn,
  held: ReadonlyArray<InboxEntry> = []
): ReadonlyArray<Message> => {
  const waiting: Array<Message> = []
  for (const turn of turns.values()) {
    const [message] = turn.turn.messages
    const waits = turn.status === "sent" || turn.status === "pending"
    if (turn !== running && !turn.over && waits && message?.role === "user") waiting.push(message)
  }
  for (const { id, message } of held) if (!turns.has(id)) waiting.push(message)
  return waiting
}

/** Turns in the order in which a new process starts them: interrupts, then steers, then the queue. */
export const byUrgency = (turns: ReadonlyArray<LiveTurn>): ReadonlyArray<LiveTurn> => [
  ...turns.filter(({ turn }) => turn.delivery?.whenBusy === "interrupt"),
  ...turns.filter(({ turn }) => turn.delivery?.whenBusy === "steer"),
  ...turns.filter(({ turn }) => (turn.delivery?.whenBusy ?? "queue") === "queue")
]

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
