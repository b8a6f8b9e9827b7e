/**
 * Inputs that are in a chat's thread before the store has them there.
 *
 * ARR1. From the moment the chat takes an input until the store answers, the chat knows what the thread was before: a store
 *       that fails leaves no trace of it in the thread.
 * ARR2. An input the store has in the inbox is never rejected: it goes back there, and is held.
 * ARR3. An input that a store was given and did not answer for in time is never rejected either: the store may have it.
 *
 * A save that is slower than its time:
 *   1. the turn ends with the error of the store; its input is held in the inbox, and pending.
 *   2. the next record that is kept has it in the inbox, or, once it ran, in the thread.
 *   3. if the program ends before that, the store has what the slow save left: the input in the thread, or nothing of it.
 */
import type { Before, InboxState } from "./inboxState.ts"
import type { Mailbox } from "./inboxQueue.ts"
import type { Turn } from "./delivery.ts"

const nobody: ReadonlyArray<Turn> = []

const beforeOf = ({ thread, interrupted, pendingToolCalls, open, expiresAt, inputs, known }: InboxState): Before => ({
  thread,
  interrupted,
  pendingToolCalls,
  open,
  expiresAt,
  inputs,
  known
})

/** What a context holds of inputs that arrive. */
type Arriving = Pick<InboxState, "mailbox" | "before" | "arriving" | "unstored" | "inputs" | "known">

/** A turn begins, and brings its input; a retry brings what could not be stored. */
export const taking = (context: InboxState, turn: Turn, mailbox: Mailbox): Arriving => {
  const { delivery } = turn
  if (delivery === undefined) return { ...context, mailbox }
  const again = turn.retry === true ? context.unstored : undefined
  const arriving = again === undefined ? [turn] : [turn, again]
  return {
    mailbox: again === undefined ? mailbox : mailbox.release(again),
    before: beforeOf(context),
    arriving,
    unstored: undefined,
    inputs: idsOf(arriving),
    known: knownWith(context.known, arriving)
  }
}

/** The running turn takes what steers it. */
export const takingSteers = (context: InboxState): Partial<InboxState> => {
  const arriving = context.mailbox.steering
  return {
    mailbox: context.mailbox.withoutSteers(),
    before: beforeOf(context),
    arriving,
    inputs: [...context.inputs, ...idsOf(arriving)],
    known: knownWith(context.known, arriving)
  }
}

/** The store has them. */
export const allTaken = ({ arriving, turn }: InboxState): Partial<InboxState> => {
  if (turn !== undefined) for (const { delivery } of arriving) delivery?.deliver(turn)
  return { arriving: nobody, before: undefined }
}

/** The store does not have them: what began the turn is rejected or held (ARR2), what steered it waits again. */
export const withdrawn = (context: InboxState, error: unknown, isUnanswered = false): Partial<InboxState> => {
  const { arriving, before, mailbox, turn } = context
  if (before === undefined || turn === undefined) return {}
  const back = { ...before, arriving: nobody, before: undefined }
  if (!arriving.includes(turn)) return { ...back, mailbox: mailbox.steeredBy(arriving) }
  for (const { delivery } of arriving) {
    if (isUnanswered) delivery?.pend()
    else delivery?.reject(error)
  }
  const unstored = arriving.find(({ messages }) => messages.length > 0)
  const isStored = unstored?.delivery?.status === "pending"
  return { ...back, unstored, mailbox: isStored && unstored !== undefined ? mailbox.hold(unstored) : mailbox }
}

const idsOf = (turns: ReadonlyArray<Turn>): ReadonlyArray<string> =>
  turns.flatMap(({ delivery }) => (delivery === undefined ? [] : [delivery.id]))

const knownWith = (known: ReadonlyArray<string>, turns: ReadonlyArray<Turn>): ReadonlyArray<string> =>
  turns.some(isNamed) ? [...known, ...idsOf(turns.filter(isNamed))] : known

const isNamed = ({ delivery }: Turn): boolean => delivery?.named === true
