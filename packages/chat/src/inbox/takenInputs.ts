/**
 * The inputs that a chat has taken into its thread, until the store has that thread.
 *
 * ARR1. From taking an input until the store answers, the chat keeps the state before. When the store fails, the chat
 *       restores that state: the thread does not contain the input, which waits again. Its row is still in the store.
 * ARR3. When a commit fails and the store has not refused it, the chat accepts the input again: the commit may have removed the row, or
 *       remove it late. An input that began its turn without a row is accepted after each failed commit; its receipt says whether it was.
 * ARR4. The commit that takes an input also removes the rows of the inputs of the turn before, which its record has in the thread:
 *       such a row may have been accepted again after the chat was loaded.
 * ARR5. The same id with other content is refused alike before, while and after its turn runs. The message in the thread has the
 *       id and the digest of its input, whatever a hook made of it. The known ids have the digest of answers. Without a digest, as
 *       in older records, nothing is compared.
 *
 * A commit that exceeds its timeout:
 *   1. the turn ends with the error of the store; its input waits for its release, and is pending.
 *   2. the chat accepts the input again under the same id. If the row is still there, nothing is written.
 *   3. the commit settles late: its thread has the input, and the row is removed. The store's process repeats step 2.
 *   4. a chat that starts from this record finds the input in the thread, and does not run it again.
 * ENV1. The live part of a turn is kept until the turn is over and its input has its final receipt.
 */
import { type Conversation, type InboxEntry, isRuntimeInput } from "../record/index.ts"
import { digest } from "../tool/index.ts"
import { canonicalJson } from "../values/index.ts"
import * as Inbox from "./Inbox.ts"
import { isInput, type TurnData, dataOf, type Turn } from "./turnData.ts"
import { ignoreRejection } from "../async/index.ts"
import { SparseMap } from "./inboxBound.ts"
import type { Holding } from "./Inbox.ts"

type Ids = ReadonlyArray<string>

/** The part of a chat's state that its inbox reads and changes. */
export interface InboxState {
  /** The record with what was decided since the last commit; while a turn runs, its `chain` is what the chain used before it. */
  readonly record: Conversation
  readonly turn: TurnData | undefined
  readonly inbox: Inbox.Inbox
  /** The record before the chat took the inputs of the running commit (ARR1). */
  readonly before: Conversation | undefined
  /** Whether there is a store. */
  readonly stores: boolean
}

/** The changes when the chat takes inputs; `record` has their ids. */
type Taking = Pick<InboxState, "inbox" | "before" | "record">

/** Takes the input of a turn that begins. */
export const taking = ({ inbox, before, record }: InboxState, turn: TurnData): Taking => {
  if (turn.followed !== true) return { inbox: Inbox.without(inbox, turn), before, record }
  const known = knownWith(record.known, [turn])
  const inputs = turn.compacts === true ? record.inputs : [turn.id]
  return { inbox: Inbox.take(inbox, turn), before: record, record: { ...record, inputs, known } }
}

/** Takes the steering inputs into the running turn. */
export const takingSteers = ({ inbox, record }: InboxState): Taking => {
  const taken = Inbox.takeSteers(inbox)
  const turns = Inbox.taken(taken)
  const inputs = [...(record.inputs ?? []), ...turns.map(({ id }) => id)]
  return { inbox: taken, before: record, record: { ...record, inputs, known: knownWith(record.known, turns) } }
}

/** The store has the taken inputs in the thread. */
export const delivered = ({ inbox }: Pick<InboxState, "inbox">): Pick<InboxState, "inbox" | "before"> => ({
  inbox: Inbox.committed(inbox),
  before: undefined
})

type Withdrawing = Pick<InboxState, "before" | "inbox" | "turn">

/** Whether the running turn has begun in the stored record: no failed commit was to begin it. */
export const hasBegun = (context: Withdrawing): boolean => context.before === undefined || !begins(context)

/** Whether a failed commit was to begin the running turn. Otherwise its inputs steered. */
const begins = ({ inbox, turn }: Pick<Withdrawing, "inbox" | "turn">): boolean =>
  inbox.some(({ id, status }) => id === turn?.id && status === "taken")

/** Restores the state before a failed commit (ARR1). */
export const withdrawn = (context: Withdrawing): Partial<InboxState> => {
  const { before, inbox } = context
  if (before === undefined) return {}
  return {
    record: before,
    before: undefined,
    inbox: begins(context) ? Inbox.failed(inbox) : Inbox.waitingAgain(inbox)
  }
}

/** The receipts that a failed commit decides: an input with a row is pending, a turn without an input fails. */
export interface LostInputs {
  readonly pend: Ids
  readonly fail: Ids
}

/** The receipts that a failed commit decides; not those of steering inputs, which are pending already. */
export const lost = (context: Withdrawing): LostInputs => {
  if (hasBegun(context)) return { pend: [], fail: [] }
  const { pend = [], fail = [] } = Object.groupBy(Inbox.taken(context.inbox), (turn) =>
    isInput(turn) ? "pend" : "fail"
  )
  return { pend: pend.flatMap((turn) => (Inbox.hasRow(turn) ? [turn.id] : [])), fail: fail.map(({ id }) => id) }
}

/** The inputs that have no row after a failed commit, or whose rows it may remove all the same, unless it was refused (ARR3, CHAT9). */
export const rowless = ({ inbox }: Pick<InboxState, "inbox">, isRefused: boolean): ReadonlyArray<InboxEntry> =>
  Inbox.taken(inbox)
    .filter((turn) => !isRefused || !Inbox.hasRow(turn))
    .flatMap(Inbox.entryOf)

const knownWith = (known: Conversation["known"], turns: ReadonlyArray<TurnData>): Conversation["known"] => {
  const named = turns.filter((turn) => turn.named === true)
  return named.length === 0
    ? known
    : [
        ...(known ?? []),
        ...named.flatMap(({ id, digest: own }) => (own === undefined ? [id] : [id, answersEntry(own, id)]))
      ]
}

/** The known id that has the digest of answers: decisions have no message that could have it. */
const answersEntry = (own: string, id: string): string => `${answersPrefix}${own}/${id}`

const answersPrefix = "troupe:answers/"

const digestIn = (known: Ids, id: string): string | undefined => {
  const entry = known.find((one) => one.startsWith(answersPrefix) && one === answersEntry(ownOf(one), id))
  return entry && ownOf(entry)
}

const ownOf = (entry: string): string => entry.slice(answersPrefix.length, entry.indexOf("/", answersPrefix.length))

/** The metadata key of the input that a message is. */
const mark = "named_input"

/** The turn as it is added to the thread: its message names the input, if the sender chose the id (ARR5). */
export const naming = (turn: TurnData): TurnData => {
  const at = turn.messages.findIndex(({ role }) => role === "user")
  const message = turn.messages[at]
  if (turn.named !== true || message === undefined || isRuntimeInput(turn)) return turn
  const own = { [mark]: { id: turn.id, digest: contentDigest(message) } }
  return { ...turn, messages: turn.messages.with(at, { ...message, metadata: { ...message.metadata, ...own } }) }
}

/** Whether the record has an input, or answers, of this id with another digest (ARR5). */
export const hasOther = ({ thread, known = [] }: Conversation, id: string, own: string): boolean => {
  const inputs = thread.messages.map(({ metadata }) => metadata?.[mark])
  const found = inputs.findLast((input) => isMark(input) && input.id === id)
  const before = digestIn(known, id) ?? (isMark(found) ? found.digest : own)
  return before !== own
}

/** The digest of an input, or of answers, which is the same for equal content. */
export const contentDigest = (content: unknown): string => digest(canonicalJson(content))

interface Mark {
  readonly id: string
  readonly digest: string
}

const isMark = (value: unknown): value is Mark =>
  typeof value === "object" && value !== null && "id" in value && "digest" in value

/** Makes the live part of a turn that was not added, and stores an input that waits. */
interface TurnParts {
  readonly accept?: ((input: InboxEntry) => Promise<unknown>) | undefined
  readonly turn?: ((id: string) => Turn) | undefined
}

export class LiveTurns extends SparseMap<string, Turn> {
  readonly #parts: TurnParts

  constructor(parts: TurnParts) {
    super()
    this.#parts = parts
  }

  /** Makes the live part of a turn that was not added: of a turn in plain data, or after a restart. */
  made(id: string): Turn {
    const made = this.#parts.turn?.(id)
    if (made === undefined) throw new Error(`the chat has no turn ${id}`)
    this.set(id, made)
    return made
  }

  /** Fails turns that do not begin. */
  fail(turns: ReadonlyArray<string>, error: unknown): void {
    for (const id of turns) {
      this.all.get(id)?.outlet.fail(error)
      this.delete(id)
    }
  }

  /** Settles receipts: inputs that wait, and turns that do not run. The turn `back` waits, and its input has no row (CHAT9). */
  settle({ pend, fail, back }: LostInputs & { readonly back?: string }, error: unknown): void {
    for (const id of pend) this.all.get(id)?.delivery?.pend()
    for (const id of fail) this.all.get(id)?.delivery?.reject(error)
    if (back !== undefined) this.all.get(back)?.delivery?.goesBack?.()
  }

  /** Accepts inputs; `hold` is called with one whose turn began without a row, if the store has its row now, or may have it. */
  acceptAgain(
    inputs: ReadonlyArray<InboxEntry>,
    isDoubted: boolean,
    hold: (turn: TurnData, status: Holding) => void
  ): void {
    for (const input of inputs) {
      const accepted = this.#parts.accept?.(input)
      const turn = this.all.get(input.id)
      if (accepted === undefined || turn?.delivery?.goesBack === undefined) ignoreRejection(accepted)
      else
        turn.delivery.accepting(accepted, isDoubted, (isUnknown) =>
          hold(dataOf(turn, input.id), isUnknown ? "doubted" : "failed")
        )
    }
  }

  /** The store has these inputs in the thread; their senders follow the turn that has them. */
  deliver(turns: ReadonlyArray<string>, within: string): void {
    const leader = this.all.get(within)?.delivery
    for (const id of turns) {
      this.all.get(id)?.delivery?.deliver(leader)
      if (id !== within) this.delete(id)
    }
  }
}
