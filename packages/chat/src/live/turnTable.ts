/**
 * The turns of one live chat, and their way into the store and the process.
 *
 * Owns: the turns that are not over, and the ended turns whose input is pending; which of them the present process does not
 * have; the number and size of the inputs that are not delivered. Does not own the process, nor the rows of the inputs.
 * Calls the store to accept an input, then sends the turn to the process.
 *
 * REF2. Turns are sent to the process in the order they were sent to the chat, each after the store has its input; a new
 *       process gets interrupts first, then steering inputs, which are queued from then on, then the queue.
 * REF9. A cancel is for one turn: the one that it names, else the one that runs or is next when it is called. It never ends another
 *       turn. A turn that has not begun is cancelled as it begins; a new process begins it first. The cancel is over when the turn is,
 *       or when the turn waits for an answer, for results or for decisions.
 */
import { type Clock, Process } from "@troupe/otp"
import * as Equal from "effect/Equal"
import { ignoreRejection, outsideTurn } from "../async/index.ts"
import {
  SparseMap,
  type InboxLimits,
  InboxTally,
  isHeldBack,
  isInput as hasInput,
  mustWait,
  dataOf,
  nextTurn,
  notStored,
  type Turn,
  refusalOf,
  unknownOutcome,
  waitsIn
} from "../inbox/index.ts"
import * as Inbox from "../inbox/Inbox.ts"
import { type ChatContext, isExpired } from "../loop/index.ts"
import { has } from "../gate/index.ts"
import type { Conversation, InboxEntry } from "../record/index.ts"
import type { Message } from "../model/index.ts"
import * as Threads from "../model/Thread.ts"
import { chatResult } from "../step/index.ts"
import { isFenced, type SessionError, ValidationError } from "../errors/index.ts"
import { type Accepted, isUnanswered } from "../store/index.ts"
import type { ChatPid, ChatProcess } from "./chatCommands.ts"
import type { LiveState } from "../view/index.ts"
import type { LiveTurn } from "./liveTurn.ts"

/** What decides whether a turn may begin. */
type TurnContent = Pick<Turn, "messages" | "decisions" | "compacts">

/** The functions that the turns of a chat need. */
export interface TurnsHome {
  readonly limits: InboxLimits
  /** Stores an input as a row of its own; resolves when the store has it. */
  readonly accept: (input: InboxEntry) => Promise<Accepted>
  /** Ends the chat, and its turns: this program is no longer its home (HOME2). */
  readonly away: () => Promise<unknown>
  /** The present process. */
  readonly process: ChatProcess | undefined
  /** The error of a chat that was stopped, or has left: it accepts no input. */
  readonly gone: SessionError | undefined
  readonly state: LiveState
  readonly ends: {
    /** Goes on from the record, if another program has written (REF13). */
    readonly reread: () => Promise<void>
  }
}

/** The events whose hooks see an input before it is stored. */
const beforeStored = ["SessionStart", "UserPromptSubmit"] as const

export class TurnTable {
  readonly #home: TurnsHome
  readonly #turns = new SparseMap<string, LiveTurn>()
  /** The turns that the present process does not have, in order. */
  readonly #unsent = new SparseMap<LiveTurn, true>()
  /** The inputs that are not delivered, if there are any. */
  #tally: InboxTally | undefined
  /** The turn that is to be cancelled. */
  #cancelled: LiveTurn | undefined
  #unstored: LiveTurn | undefined
  /** The turns that the view refuses, while the record is read (REF13). */
  #reading: Set<LiveTurn> | undefined

  constructor(home: TurnsHome) {
    this.#home = home
  }

  /** The newest turn, if its input could not be stored and no other turn ran: a retry sends the input again. */
  get unstored(): LiveTurn | undefined {
    return this.#unstored
  }

  get size(): number {
    return this.#turns.all.size
  }

  get(id: string): LiveTurn | undefined {
    return this.#turns.all.get(id)
  }

  /** The turns that are not over. */
  get left(): ReadonlyArray<LiveTurn> {
    return Array.from(this.#turns.all.values()).filter(({ over }) => !over)
  }

  get all(): ReadonlyArray<LiveTurn> {
    return Array.from(this.#turns.all.values())
  }

  /** The turn that the process runs or, before it runs one, the first that is not over. */
  running(current: string | undefined, waits?: (turn: LiveTurn) => boolean): LiveTurn | undefined {
    const turn = current === undefined ? undefined : this.#turns.all.get(current)
    if (turn !== undefined && !turn.over) return turn
    for (const first of this.#turns.all.values()) if (!first.over && waits?.(first) !== true) return first
    return undefined
  }

  /** The turn that runs, else the next one: an input that waits for an answer or a decision is none. */
  next(context: ChatContext | undefined): LiveTurn | undefined {
    const next = context && (context.turn ?? nextTurn(context))
    return this.running(next?.id, (turn) => waitsIn(context, turn))
  }

  /** Why the inbox refuses this message while a turn runs (INBOX1). */
  full(chat: string, running: LiveTurn | undefined, message: Message): SessionError | undefined {
    return running === undefined ? undefined : this.#counted.refusal(chat, running.id, message)
  }

  /** Why these messages or decisions cannot begin a turn of a chat with this context, if nothing that could change that is under way. */
  cannotBegin(context: ChatContext, turn: TurnContent, clock: Clock.Clock): SessionError | undefined {
    if (context.turn !== undefined) return undefined
    const refusal = refusalOf(context.record, turn)
    if (refusal === undefined || !this.#allWait(context.inbox)) return undefined
    return isExpired(context.record, clock.now()) ? undefined : refusal
  }

  /**
   * Stores the input of a turn, if the store does not have it, and sends the turn to the process. When the view refuses the turn, the record
   * is read first (REF13).
   */
  start(turn: LiveTurn, isRefused = false): void {
    const isFirst = this.running(undefined) === undefined
    this.#unstored = undefined
    this.#turns.set(turn.id, turn)
    this.#unsent.set(turn, true)
    this.#count(turn)
    if (!isRefused) return this.#enter(turn, isFirst)
    const reading = (this.#reading ??= new Set())
    reading.add(turn)
    const isRead = (failure?: unknown): void => {
      const { context } = this.#home.state
      const refusal =
        failure ?? this.#home.gone ?? (context && isInput(turn) ? this.#refusalIn(context, turn) : undefined)
      reading.delete(turn)
      if (refusal !== undefined) turn.fail(refusal)
      if (turn.over) return this.#send()
      this.#enter(turn, isFirst)
    }
    this.#home.ends.reread().then(() => isRead(), isRead)
  }

  #refusalIn(context: ChatContext, { turn }: LiveTurn): SessionError | undefined {
    return this.cannotBegin(context, turn, turn.options.system.clock)
  }

  /** Stores the input of a turn; that of a chat at rest is stored as its turn begins (CHAT9). */
  #enter(turn: LiveTurn, isFirst: boolean): void {
    const { delivery } = turn.turn
    if (delivery !== undefined && isFirst && !isReady(turn) && beginsAtOnce(this.#home, turn))
      delivery.goesBack = () => void outsideTurn().then(() => this.#back(turn))
    if (isReady(turn)) this.#send()
    else this.#store(turn, isFirst)
  }

  /** The turn of an input that has no row could not begin at once: it is the first one that the process gets with its row (REF2). */
  #back(turn: LiveTurn): void {
    if (turn.over) return
    putFirst(this.#unsent, turn)
    this.#store(turn, true)
  }

  #store(turn: LiveTurn, isFirst: boolean): void {
    if (turn.turn.delivery !== undefined) turn.turn.delivery.goesBack = undefined
    for (const input of Inbox.entryOf(dataOf(turn.turn, turn.id))) {
      this.#home.accept(input).then(
        (accepted) => this.#accepted(turn, input, accepted),
        (error: unknown) => this.#notAccepted(turn, error, isFirst)
      )
    }
  }

  #accepted(turn: LiveTurn, { message }: InboxEntry, { input }: Accepted): void {
    // A row that a former program left, and that came late, is older than what the chat asks now (MAIL5).
    if (turn.turn.answers !== input.answers) turn.turn.answers = input.answers
    if (Equal.equals(input.message, message)) {
      if (turn.turn.delivery !== undefined) turn.turn.delivery.isKept = true
    } else turn.fail(new ValidationError("invalid_options", [{ field: ["id"], reason: "names_another_input" }]))
    this.#send()
  }

  #notAccepted(turn: LiveTurn, cause: unknown, isFirst: boolean): void {
    if (turn.over) return
    if (isFenced(cause)) return ignoreRejection(this.#home.away())
    if (isUnanswered(cause)) return this.#doubt(turn, cause)
    const error = notStored(cause)
    if (isFirst) {
      this.#unstored = turn
      const terminal = { reason: "error", metadata: { error } } as const
      turn.endInError(error, chatResult(this.#home.state.context?.record.thread ?? Threads.empty, [], terminal))
    } else turn.fail(error)
    this.#send()
  }

  /** The store may have the input, or may get it: the process holds the input until its release, and its turn ends. */
  #doubt(turn: LiveTurn, cause: unknown): void {
    const process = this.#home.process
    if (process !== undefined)
      Process.send(process.pid, { type: "input.held", turn: dataOf(turn.turn, turn.id), status: "doubted" })
    turn.fail(unknownOutcome(cause))
    // The process holds it, so it counts until its release.
    for (const message of turn.turn.messages) this.#counted.add(turn.id, message)
    this.#send()
  }

  /** Cancels the turn that has or joined this input, else the running turn or the next one, and waits for its end (REF9). */
  async cancel(id?: string, chain = false): Promise<void> {
    const { state } = this.#home
    const turn = id === undefined ? this.next(state.context) : this.#of(id, state.context)
    if (turn === undefined) return
    const { promise: waiting, resolve } = Promise.withResolvers<void>()
    const data = dataOf(turn.turn, turn.id)
    let asked: ChatPid | undefined
    const look = () => {
      const pid = this.#home.process?.pid
      if (waitsIn(state.context, data)) return resolve()
      if (state.context?.turn?.id !== turn.id || pid === undefined || pid === asked) return
      asked = pid
      Process.send(pid, { type: "turn.cancel", turn: turn.id, ...(chain && { chain }) })
    }
    const forget = state.watch(look)
    this.#cancelled = turn
    const stopTimer = afterDrain(turn, () => {
      if (!turn.over && !isReady(turn) && this.#reading?.has(turn) !== true) this.#doubt(turn, undefined)
    })
    look()
    await Promise.race([turn.ended, waiting])
    forget()
    stopTimer()
    if (this.#cancelled === turn) this.#cancelled = undefined
  }

  /** The turn of this input: its own or, when the input joined the running turn, that one; `undefined` when it is over. */
  #of(id: string, context: ChatContext | undefined): LiveTurn | undefined {
    const isInRunning = context?.turn !== undefined && context.record.inputs?.includes(id)
    const turn = this.#turns.all.get(isInRunning ? context.turn.id : id)
    return turn?.over === false ? turn : undefined
  }

  /** The process withdraws the input that it holds, and must not get the turn of it (REF11). */
  withdrawing(id: string): void {
    const turn = this.#turns.all.get(id)
    turn?.turn.delivery?.again()
    if (turn !== undefined) this.#unsent.delete(turn)
  }

  /** The input is withdrawn: the store has no row of it (REF11). */
  withdrawn(id: string, error: SessionError): void {
    const turn = this.#turns.all.get(id)
    turn?.turn.delivery?.withdraw(error)
    turn?.fail(error)
    this.#tally?.delete(id)
    this.#turns.delete(id)
  }

  /** Sends the process the turns that it may have. */
  #send(): void {
    const process = this.#home.process
    if (process === undefined) return
    const { pid, env } = process
    for (let turn = this.#next(); turn !== undefined; turn = this.#next()) Process.send(pid, env.start(turn.turn))
  }

  /** Removes and returns the next turn for the process: the first one whose input the store has (REF2). */
  #next(): LiveTurn | undefined {
    for (const turn of this.#unsent.all.keys()) {
      if (!turn.over && (!isReady(turn) || this.#reading?.has(turn) === true)) return undefined
      this.#unsent.delete(turn)
      if (!turn.over) return turn
    }
    return undefined
  }

  /** The turn is over. The turn of a pending input stays, and that of an input whose row is being stored. */
  ended(turn: LiveTurn): void {
    if (!waitsAgain(turn) && this.#turns.all.get(turn.id) === turn) this.#turns.delete(turn.id)
    if (isAccepting(turn) && this.running(undefined) === undefined) this.#unstored = turn
    this.#unsent.delete(turn)
  }

  /** The process has ended: the next one gets every turn that is not over. */
  died(): void {
    this.#unsent.clear()
    for (const turn of this.left) this.#unsent.set(turn, true)
  }

  /**
   * The present process has this context; sends it the turns. An input that the stored thread has is delivered; its turn
   * died. An ended turn whose input has no row left is discarded.
   */
  attached({ inbox, record }: Pick<ChatContext, "inbox" | "record">, died: () => Error): void {
    const { inputs = [], known = [] } = record
    const over = inbox.flatMap(({ id, status }) => (status === "delivered" ? [id] : []))
    const inThread = new Set([...inputs, ...known, ...over])
    let held: ReadonlySet<string> | undefined
    if (this.#unstored !== undefined && inThread.has(this.#unstored.id)) this.#unstored = undefined
    for (const turn of this.all) {
      const { delivery } = turn.turn
      if (inThread.has(turn.id)) {
        delivery?.deliver()
        turn.fail(died())
      } else if (
        !turn.over ||
        (isAccepting(turn) && turn.status === "sent") ||
        (held ??= new Set(inbox.map(({ id }) => id))).has(turn.id)
      )
        continue
      else delivery?.close()
      this.#turns.delete(turn.id)
    }
    this.#tally = undefined
    for (const { id, message } of Inbox.entries(inbox)) this.#counted.add(id, message)
    const sorted = Inbox.inLines(this.left, (turn) =>
      turn === this.#cancelled ? "interrupt" : turn.turn.delivery?.whenBusy
    )
    this.#unsent.clear()
    for (const turn of sorted) {
      this.#turns.delete(turn.id)
      this.#turns.set(turn.id, turn)
      this.#unsent.set(turn, true)
      this.#count(turn)
      const { delivery } = turn.turn
      if (delivery?.whenBusy === "steer") delivery.whenBusy = "queue"
      if (delivery?.goesBack !== undefined) this.#store(turn, false)
    }
    this.#send()
  }

  /** Whether every turn that is not over waits in this inbox, or for the record. */
  #allWait(inbox: Inbox.Inbox): boolean {
    const waiting = new Set(inbox.map(({ id }) => id))
    const isAside = (turn: LiveTurn): boolean => waiting.has(turn.id) && !this.#unsent.all.has(turn)
    return this.left.every((turn) => isAside(turn) || this.#reading?.has(turn) === true)
  }

  /** No process can run the turns: they fail. The store may have, or may get, their inputs and answers. */
  abandon(error: unknown): void {
    for (const turn of this.left) {
      const { delivery } = turn.turn
      if (delivery !== undefined) delivery.isDoubted = true
      turn.fail(error)
    }
  }

  /** Fails every turn that is not over. */
  fail(error: unknown): void {
    for (const turn of this.left) turn.fail(error)
  }

  /** Ends the deliveries of the turns: the chat is stopped. */
  close(): void {
    for (const { turn } of this.#turns.all.values()) turn.delivery?.close()
  }

  #count(turn: LiveTurn): void {
    const { delivery } = turn.turn
    if (delivery === undefined || turn.status === "delivered") return
    this.#counted.add(turn.id, countedOf(turn.turn))
    delivery.settled = (id) => {
      if (turn.over && this.#turns.all.get(id) === turn) this.#turns.delete(id)
      this.#tally?.delete(id)
      if (this.#tally?.isEmpty === true) this.#tally = undefined
    }
  }

  get #counted(): InboxTally {
    return (this.#tally ??= new InboxTally(this.#home.limits))
  }
}

/** The message that a turn counts as (INBOX2). */
export const countedOf = ({ messages, decisions }: TurnContent): Message => {
  const [message, ...more] = messages
  if (decisions === undefined && message?.role === "user" && more.length === 0) return message
  return { role: "user", content: JSON.stringify([...(decisions ?? []), ...messages]) }
}

/**
 * Whether the chat rests, and no hook sees the input before it is stored: its turn begins at once, as far as the view says. A named input
 * has a row, which says that another program has accepted the name.
 */
const beginsAtOnce = ({ process, state }: TurnsHome, { id, turn }: LiveTurn): boolean => {
  const { context } = state
  if (process === undefined || context === undefined || !state.isResting || context.leaving) return false
  if (turn.delivery?.named === true) return false
  const data = dataOf(turn, id)
  const waits = nextTurn(context) !== undefined || mustWait(context, data) || isHeldBack(context, data)
  return !waits && typeof data.messages[0]?.content === "string" && !has(turn.options.hooks, ...beforeStored)
}

const putFirst = <K>(entries: SparseMap<K, true>, first: K): void => {
  const others = Array.from(entries.all.keys())
  entries.clear()
  for (const each of [first, ...others]) entries.set(each, true)
}

/** Calls `due` after the drain deadline, if the store has not accepted the input of the turn; returns a function that stops the timer. */
const afterDrain = (turn: LiveTurn, due: () => void): (() => void) => {
  const { drainMs, system } = turn.turn.options
  const timer = isReady(turn) ? undefined : system.clock.setTimeout(due, drainMs)
  return () => {
    if (timer !== undefined) system.clock.clearTimeout(timer)
  }
}

/** Whether the turn is over, and its input waits in the store, or is to. */
export const waitsAgain = ({ over, status, turn }: LiveTurn): boolean =>
  over && (status === "pending" || isAccepting({ turn }))

/** Whether the row of an input is being stored, or is there, whose turn could not begin without one. */
export const isAccepting = ({ turn }: Pick<LiveTurn, "turn">): boolean => turn.delivery?.isAccepting === true

/** Whether the turn has an input. */
const isInput = ({ turn }: Pick<LiveTurn, "turn">): boolean => hasInput({ ...turn, followed: true })

/** Whether the process may have the turn: the store has its input, or gets it as the turn begins. */
const isReady = ({ turn }: LiveTurn): boolean =>
  !isInput({ turn }) || turn.delivery?.isKept === true || turn.delivery?.goesBack !== undefined

/**
 * Reads from the store the receipts of inputs whose process has ended. An input is pending if its row is stored. If the store
 * does not answer, its outcome is unknown (RCPT3).
 */
export const settleReceipts = async (
  turns: ReadonlyArray<LiveTurn>,
  kept: (withinMs: number) => Promise<{ readonly record: Conversation | undefined } | undefined>,
  gone: unknown
): Promise<void> => {
  const open = turns.filter((turn) => turn.status === "sent" && (!turn.over || isAccepting(turn)))
  const [first] = open
  if (first === undefined) return
  const answer = await kept(first.turn.options.drainMs)
  const taken = new Set(answer?.record?.inputs)
  const waiting = new Set(answer?.record?.inbox?.map(({ id }) => id))
  for (const turn of open) {
    const { delivery } = turn.turn
    delivery?.again()
    if (taken.has(turn.id)) delivery?.deliver()
    else if (waiting.has(turn.id) || (answer === undefined && delivery?.isKept === true)) delivery?.pend()
    else if (delivery !== undefined) {
      delivery.isKept = false
      delivery.isDoubted = answer === undefined
      if (turn.over) delivery.reject(gone)
    }
  }
}
