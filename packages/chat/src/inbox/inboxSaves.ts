/**
 * The storage of the inputs that arrive while a turn runs: what to save, and what a save decides about receipts.
 *
 * Owns: nothing; the chart holds the lists, and the environment performs the saves and settles the receipts.
 *
 * KEEP1. At most one save runs at a time; all inputs that arrive meanwhile are stored by one more save.
 * KEEP2. The chat is notified of the end of each save exactly once, unless its process has ended.
 * KEEP3. When the save of an input fails while a running commit has the input in its inbox, that commit decides its
 *        result.
 */
import { OtpError } from "@troupe/otp"
import type { InboxSaves, InboxState } from "./inboxState.ts"
import * as Mailbox from "./Mailbox.ts"
import type { TurnData } from "./turnData.ts"

type Ids = ReadonlyArray<string>

const none: Ids = []

export const noSaves: InboxSaves = { unsaved: false, saving: undefined, carried: none, doubted: none, pending: none }

/** The receipts that a failed save decides: pending if the store did not answer, else the inputs fail. */
export interface LostInputs {
  readonly pend: Ids
  readonly fail: Ids
}

type SaveState = Pick<InboxState, "mailbox" | "saves">

/** Queues the turn, and marks its input to be stored, if it has an input and there is a store. */
export const accepted = (
  { mailbox, saves, stores }: Pick<InboxState, "mailbox" | "saves" | "stores">,
  turn: TurnData
): SaveState => ({
  mailbox: Mailbox.add(mailbox, turn),
  saves: stores && !saves.unsaved && isNew(turn) ? { ...saves, unsaved: true } : saves
})

/** Whether the input of a turn is to be stored. */
const isNew = ({ receipt, messages: [message] }: TurnData): boolean => receipt === "sent" && message?.role === "user"

/** Whether a save begins. Not while inputs in the thread are uncommitted: it would store them with the inbox. */
export const mustSave = ({ saves, arriving }: Pick<InboxState, "saves" | "arriving">): boolean =>
  saves.unsaved && saves.saving === undefined && arriving.length === 0

/** A save begins, of all inputs whose storage nothing has decided. */
export const saveBegun = ({ mailbox, saves }: SaveState): Pick<InboxState, "saves"> => {
  const known = new Set([...saves.pending, ...saves.doubted])
  const saving = Mailbox.turns(mailbox).flatMap((turn) => (isNew(turn) && !known.has(turn.id) ? [turn.id] : []))
  return { saves: { ...saves, saving, unsaved: false } }
}

/** The save has ended: its inputs are pending. */
export const saved = ({ saves }: Pick<InboxState, "saves">): Pick<InboxState, "saves"> => ({
  saves: { ...saves, saving: undefined, pending: [...saves.pending, ...(saves.saving ?? none)] }
})

/** The receipts that a failed save decides; not those of inputs in the inbox of a running commit (KEEP3). */
export const lostInSave = (state: SaveState, unanswered: boolean): LostInputs => {
  const { saving = none, carried } = state.saves
  return lost(state, unanswered ? saving : saving.filter((id) => !carried.includes(id)), unanswered)
}

/** The save has failed. */
export const notSaved = (state: SaveState, unanswered: boolean): SaveState => {
  const { saving = none, carried, doubted } = state.saves
  const taken = unanswered ? none : saving.filter((id) => carried.includes(id))
  const saves = { ...state.saves, saving: undefined, doubted: taken.length === 0 ? doubted : [...doubted, ...taken] }
  return without({ mailbox: state.mailbox, saves }, lostInSave(state, unanswered))
}

/** A commit begins: it contains the waiting inputs. */
export const carried = ({ mailbox, saves }: SaveState): Pick<InboxState, "saves"> => {
  const ids = Mailbox.turns(mailbox).map(({ id }) => id)
  return ids.length === 0 && saves.carried.length === 0 ? { saves } : { saves: { ...saves, carried: ids } }
}

/** The commit has succeeded: the doubted inputs in its inbox are pending (KEEP3). */
export const doubtedKept = ({ saves }: Pick<InboxState, "saves">): Pick<InboxState, "saves"> => ({
  saves: decided(saves, { pending: [...saves.pending, ...saves.doubted] })
})

/** The receipts that a failed commit decides: those of the doubted inputs in its inbox (KEEP3). */
export const lostInCommit = (state: SaveState, unanswered: boolean): LostInputs =>
  lost(state, state.saves.doubted, unanswered)

/** The commit has failed. */
export const doubtedLost = (state: SaveState, unanswered: boolean): SaveState =>
  without({ mailbox: state.mailbox, saves: decided(state.saves) }, lostInCommit(state, unanswered))

const decided = (saves: InboxSaves, more: Partial<InboxSaves> = {}): InboxSaves =>
  saves.carried.length + saves.doubted.length === 0 ? saves : { ...saves, ...more, carried: none, doubted: none }

const lost = ({ mailbox }: SaveState, ids: Ids, unanswered: boolean): LostInputs => {
  const waiting = Mailbox.among(mailbox, ids)
  return unanswered ? { pend: waiting, fail: none } : { pend: none, fail: waiting }
}

const without = ({ mailbox, saves }: SaveState, { pend, fail }: LostInputs): SaveState => ({
  mailbox: Mailbox.without(mailbox, fail),
  saves: pend.length === 0 ? saves : { ...saves, pending: [...saves.pending, ...pend] }
})

/** Whether the call to the store timed out: the store may have stored the record, or may still store it. */
export const isUnanswered = (cause: unknown): boolean =>
  cause instanceof OtpError.CallExit && cause.reason === "timeout"
