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

/** The fields of the state about uncommitted inputs. */
type Arriving = Pick<InboxState, "mailbox" | "before" | "arriving" | "unstored" | "inputs" | "known">

/** Takes the input of a turn that begins; a retry also takes the input that could not be stored. */
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

/** Takes the steering inputs into the running turn. */
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

/** Marks the taken inputs as delivered, since the store has them. */
export const allTaken = ({ arriving, turn }: Pick<InboxState, "arriving" | "turn">): Partial<InboxState> => {
  if (turn !== undefined) for (const { delivery } of arriving) delivery?.deliver(turn)
  return { arriving: nobody, before: undefined }
}

/**
 * Restores the state before a failed commit: the turn's first input is rejected or held (ARR2), steering inputs wait
 * again.
 */
export const withdrawn = (
  context: Pick<InboxState, "arriving" | "before" | "mailbox" | "turn">,
  error: unknown,
  isUnanswered = false
): Partial<InboxState> => {
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
