/**
 * Inputs that are in a chat's thread and not yet committed to the store.
 *
 * ARR1. From taking an input until the store answers, the chat keeps the state before. When the store fails, the chat
 *       restores that state, and the thread does not contain the input.
 * ARR2. An input that the store has in the inbox is never rejected: it returns to the inbox and is held.
 * ARR3. When the store does not answer in time, the input is not rejected either: the store may have it.
 *
 * A save that exceeds its timeout:
 *   1. the turn ends with the error of the store; its input is held in the inbox, and pending.
 *   2. the next stored record has the input in the inbox or, after it ran, in the thread.
 *   3. if the program ends before step 2, the store has the result of the slow save: the input in the thread, or not at
 *   all.
 */
import type { Before, InboxState } from "./inboxState.ts"
import * as Mailbox from "./Mailbox.ts"
import type { TurnData } from "./turnData.ts"

const none: ReadonlyArray<TurnData> = []

const beforeOf = ({ thread, interrupted, pendingToolCalls, open, expiresAt, inputs, known }: InboxState): Before => ({
  thread,
  interrupted,
  pendingToolCalls,
  open,
  expiresAt,
  inputs,
  known
})

/** The fields of the state about uncommitted inputs. */
type Arriving = Pick<InboxState, "mailbox" | "before" | "arriving" | "unstored" | "inputs" | "known">

/** Takes the input of a turn that begins; a retry also takes the input that could not be stored. */
export const taking = (context: InboxState, turn: TurnData, mailbox: Mailbox.Mailbox): Arriving => {
  if (turn.receipt === undefined) {
    const { before, arriving, unstored, inputs, known } = context
    return { mailbox, before, arriving, unstored, inputs, known }
  }
  const again = turn.retry === true ? context.unstored : undefined
  const arriving = again === undefined ? [turn] : [turn, again]
  return {
    mailbox: again === undefined ? mailbox : Mailbox.release(mailbox, again),
    before: beforeOf(context),
    arriving,
    unstored: undefined,
    inputs: idsOf(arriving),
    known: knownWith(context.known, arriving)
  }
}

/** Takes the steering inputs into the running turn. */
export const takingSteers = (context: InboxState): Partial<InboxState> => {
  const arriving = context.mailbox.steers
  return {
    mailbox: { ...context.mailbox, steers: none },
    before: beforeOf(context),
    arriving,
    inputs: [...context.inputs, ...idsOf(arriving)],
    known: knownWith(context.known, arriving)
  }
}

/** The taken inputs are delivered, since the store has them. */
export const allTaken = ({ saves, arriving }: Pick<InboxState, "saves" | "arriving">): Partial<InboxState> => {
  const ids = idsOf(arriving)
  const pending = saves.pending.filter((id) => !ids.includes(id))
  return { arriving: none, before: undefined, saves: { ...saves, pending } }
}

type Withdrawing = Pick<InboxState, "arriving" | "before" | "mailbox" | "saves" | "turn">

/** Whether a failed commit was to begin the running turn. Otherwise its inputs steered, and wait again. */
const begins = ({ arriving, turn }: Pick<Withdrawing, "arriving" | "turn">): boolean =>
  arriving.some(({ id }) => id === turn?.id)

/** The inputs whose receipts a failed commit decides. */
export const withdrawnIds = (context: Withdrawing): ReadonlyArray<string> =>
  context.before !== undefined && begins(context) ? idsOf(context.arriving) : []

/**
 * Restores the state before a failed commit: the turn's first input is rejected or held (ARR2), steering inputs wait
 * again.
 */
export const withdrawn = (context: Withdrawing, isUnanswered: boolean): Partial<InboxState> => {
  const { arriving, before, mailbox, saves, turn } = context
  if (before === undefined || turn === undefined) return {}
  const back = { ...before, arriving: none, before: undefined }
  if (!begins(context)) return { ...back, mailbox: { ...mailbox, steers: [...arriving, ...mailbox.steers] } }
  const pending = isUnanswered ? [...saves.pending, ...idsOf(arriving)] : saves.pending
  const unstored = arriving.find(({ messages }) => messages.length > 0)
  const isStored = unstored !== undefined && (unstored.receipt === "pending" || pending.includes(unstored.id))
  return {
    ...back,
    unstored,
    saves: { ...saves, pending },
    mailbox: isStored ? Mailbox.hold(mailbox, unstored) : mailbox
  }
}

const idsOf = (turns: ReadonlyArray<TurnData>): ReadonlyArray<string> =>
  turns.flatMap(({ id, receipt }) => (receipt === undefined ? [] : [id]))

const knownWith = (known: ReadonlyArray<string>, turns: ReadonlyArray<TurnData>): ReadonlyArray<string> =>
  turns.some(isNamed) ? [...known, ...idsOf(turns.filter(isNamed))] : known

const isNamed = ({ named }: TurnData): boolean => named === true
