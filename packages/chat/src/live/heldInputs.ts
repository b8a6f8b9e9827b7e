/** The inputs of a live chat that wait for their release, and how a sender gets their turns. */
import { Delivery, nothingToRetry, type TurnData } from "../inbox/index.ts"
import * as Inbox from "../inbox/Inbox.ts"
import type { ChatContext } from "../loop/index.ts"
import { SessionError } from "../errors/index.ts"
import type { Message } from "../model/index.ts"
import type { RunOptions, TurnOptions } from "../options/index.ts"
import { alreadyDelivered } from "./chatCommands.ts"
import type { LiveTurn } from "./liveTurn.ts"
import { isAccepting, type TurnTable, waitsAgain } from "./turnTable.ts"

/** The part of a live chat that starts the turns. */
interface Starter {
  readonly id: string
  readonly context: ChatContext | undefined
  readonly newId: () => string
  readonly ends: {
    readonly cannotBegin: (turn: Pick<TurnData, "messages" | "compacts">) => SessionError | undefined
    readonly refusal: (turn: Pick<TurnData, "messages">) => SessionError | undefined
  }
  options(): Pick<RunOptions, "compaction">
  start(
    messages: ReadonlyArray<Message>,
    options: {
      readonly retry?: boolean
      readonly compacts?: boolean
      readonly attempt?: number | undefined
      readonly delivery?: Delivery | undefined
      readonly options?: TurnOptions | undefined
      readonly model?: string | undefined
      readonly answers?: string | undefined
      readonly isRefused?: boolean
    }
  ): LiveTurn
  refused(error: SessionError, delivery: Delivery): LiveTurn
}

/** The inputs that wait for their release. */
export const heldInputs = ({ context }: Pick<Starter, "context">): Inbox.Inbox =>
  context?.inbox.filter(Inbox.isHeld) ?? Inbox.empty

/** The turns of inputs that could not begin, which the store has or is to have, and the process does not have yet. */
const unheldInputs = ({ context }: Starter, turns: TurnTable): ReadonlyArray<LiveTurn> =>
  turns.all.filter((turn) => turn.over && isAccepting(turn) && !context?.inbox.some(({ id }) => id === turn.id))

/** Starts the held inputs, and those that the process is to hold, and returns their turns. */
export const releasedInputs = (chat: Starter, turns: TurnTable): ReadonlyArray<LiveTurn> => [
  ...unheldInputs(chat, turns).map((live) => beganAgain(chat, live)),
  ...heldInputs(chat).map((held) => released(chat, turns, held))
]

const released = (
  chat: Starter,
  turns: TurnTable,
  { id, named, messages, whenBusy = "queue", status, model, answers }: Inbox.WaitingTurn
): LiveTurn => {
  const live = turns.get(id)
  if (live !== undefined && !live.over) return live
  const receipt = status === "doubted" ? undefined : ({ status: "pending" } as const)
  const before = live?.turn.delivery
  const isOpen = before !== undefined && before.status !== "rejected"
  const delivery = isOpen ? before : new Delivery(whenBusy, id, named === true, receipt)
  return again(chat, messages, delivery, { model, answers })
}

/** Starts the turn of an accepted input; it is queued now. */
const again = (
  chat: Starter,
  messages: ReadonlyArray<Message>,
  delivery: Delivery | undefined,
  { model, answers }: Pick<TurnData, "model" | "answers">,
  options?: TurnOptions
): LiveTurn => {
  if (delivery !== undefined) delivery.whenBusy = "queue"
  delivery?.again()
  return chat.start(messages, { delivery, options, model, answers })
}

const beganAgain = (chat: Starter, { turn }: LiveTurn): LiveTurn => again(chat, turn.messages, turn.delivery, turn)

/** The input of this id, if it is known: on its way, held, or in the thread. */
export const knownInput = (chat: Starter, turns: TurnTable, id: string): LiveTurn | undefined => {
  const live = turns.get(id)
  if (live !== undefined && live.status !== "rejected" && !waitsAgain(live)) return live
  if (heldInputs(chat).some((held) => held.id === id)) return releasedInputs(chat, turns).find((turn) => turn.id === id)
  if (live !== undefined && waitsAgain(live)) return beganAgain(chat, live)
  const { before, record } = chat.context ?? {}
  if ((before ?? record)?.known?.includes(id) !== true) return undefined
  return chat.refused(alreadyDelivered(chat.id, id), new Delivery("queue", id, true, { status: "delivered" }))
}

/** The options of a retry, and the least number of its answer. */
interface Retry {
  readonly options?: TurnOptions | undefined
  readonly attempt?: number | undefined
}

/** Starts the turn of an input that could not be stored; without one, the last question runs again. */
export const retried = (chat: Starter, turns: TurnTable, retry: Retry = {}): LiveTurn => {
  const failed = heldInputs(chat).find(({ status }) => status === "failed")
  const turn = failed === undefined ? retriedTurn(chat, turns, retry) : released(chat, turns, failed)
  releasedInputs(chat, turns)
  return turn
}

/** Starts a turn that only compacts (COMPACT3). */
export const compacted = (chat: Starter): LiveTurn => {
  const turn = { messages: [], compacts: true }
  const refusal = chat.options().compaction === undefined ? notConfigured() : chat.ends.refusal(turn)
  if (refusal !== undefined) return chat.refused(refusal, new Delivery("queue", chat.newId(), false))
  return chat.start([], { compacts: true, isRefused: chat.ends.cannotBegin(turn) !== undefined })
}

const notConfigured = (): SessionError =>
  new SessionError(
    "invalid_status_for_operation",
    "The chat has no compaction; start the Troupe with compaction: Compaction.make({ maxTokens })",
    { metadata: { operation: "compact", legal: [] } }
  )

const retriedTurn = (chat: Starter, { unstored }: TurnTable, { options, attempt }: Retry): LiveTurn => {
  if (unstored !== undefined) {
    const { turn, id, status } = unstored
    const delivery = status === "rejected" ? new Delivery("queue", id, turn.delivery?.named) : turn.delivery
    return again(chat, turn.messages, delivery, turn, options)
  }
  if ((chat.context?.record.thread.messages.length ?? 0) === 0) throw nothingToRetry()
  return chat.start([], {
    retry: true,
    attempt,
    options,
    isRefused: chat.ends.cannotBegin({ messages: [] }) !== undefined
  })
}
