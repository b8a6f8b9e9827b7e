/**
 * One turn as data, and what of it is live.
 *
 * SENDMODEL1. The model of an input applies to its own turn, for requests of the agent that the turn begins with, and to no other
 *             turn. It is stored with an input that waits.
 * ATTEMPT1. A retry with an `attempt` gives this number, or the next one if that is larger, to the last message of a person, in the
 *           entry that begins the turn. A conversation without such a retry has no number.
 * MAIL5. An input names the question that its sender could have seen when it was accepted, also across restarts: the one that the chat
 *        asks then. A note of a tool's handler and the end of a background task name none.
 */
import type { Decided } from "../step/index.ts"
import type { Outlet } from "../events/index.ts"
import type { RunOptions, TurnOptions } from "../options/index.ts"
import type { Message } from "../model/index.ts"
import type { WhenBusy } from "../record/index.ts"
import type { Delivery } from "./inputReceipt.ts"

/** What a turn adds to the thread. */
interface TurnContent {
  /** Empty for a turn that only continues; tool messages when the caller answers calls. */
  readonly messages: ReadonlyArray<Message>
  /** Removes first the replies after the last question or tool result, but not a reply whose calls are open. */
  readonly retry?: boolean | undefined
  /** Only compacts the thread: the turn sends no request of its own (COMPACT3). */
  readonly compacts?: boolean | undefined
  /** The least number of the answer that a retry begins (ATTEMPT1). */
  readonly attempt?: number | undefined
  /** Decisions about suspended calls. */
  readonly decisions?: ReadonlyArray<Decided> | undefined
  /** The digest of the answers that the turn brings under an id of their sender (ARR5). */
  readonly digest?: string | undefined
  /** Whether its decisions begin a new chain (CHAIN2). */
  readonly renews?: boolean | undefined
  /** The model that the input was sent with. */
  readonly model?: string | undefined
  /** The question that the input may answer (MAIL5). */
  readonly answers?: string | undefined
}

/** One turn, as a chart holds it. */
export interface TurnData extends TurnContent {
  /** The id by which the environment finds the live part. */
  readonly id: string
  readonly whenBusy?: Exclude<WhenBusy, "reject"> | undefined
  /** Whether the sender chose the id. */
  readonly named?: boolean | undefined
  /** Whether a sender follows the turn. The store has the row of its input before the chart has it, unless it is `direct`. */
  readonly followed?: boolean | undefined
  /** Whether the input has no row: the turn begins at once, or goes back to the sender's side, which stores a row (CHAT9). */
  readonly direct?: boolean | undefined
}

/** Whether the turn has an input with a sender: a user message. The input beside answers has no row of its own. */
export const isInput = ({
  followed,
  messages,
  decisions
}: Pick<TurnData, "followed" | "messages" | "decisions">): boolean =>
  followed === true && decisions === undefined && messages[0]?.role === "user"

/** One turn with its live part: its options, the outlet of its events, and the delivery of its input. */
export interface Turn extends TurnContent {
  /** Those of the agent that the chat had when the input was sent. */
  readonly options: RunOptions
  /** Those that the turn has for itself. */
  readonly own?: TurnOptions | undefined
  readonly outlet: Outlet
  /** The delivery of the input; absent when no sender follows it. */
  readonly delivery?: Delivery | undefined
  /** The question that the input may answer: that of its row, once the store has one (MAIL5). */
  answers?: string | undefined
}

/** The data of a turn. `id` is for a turn without a delivery. */
export const dataOf = (
  { messages, retry, compacts, attempt, decisions, digest, renews, model, answers, delivery }: Turn,
  id: string
): TurnData => ({
  id: delivery?.id ?? id,
  messages,
  ...(retry === true && { retry }),
  ...(compacts === true && { compacts }),
  ...(attempt !== undefined && { attempt }),
  ...(decisions !== undefined && { decisions }),
  ...(digest !== undefined && { digest }),
  ...(renews === true && { renews }),
  ...(model !== undefined && { model }),
  ...(answers !== undefined && { answers }),
  ...(delivery !== undefined && { whenBusy: delivery.whenBusy, named: delivery.named, followed: true }),
  ...(delivery?.goesBack !== undefined && { direct: true })
})
