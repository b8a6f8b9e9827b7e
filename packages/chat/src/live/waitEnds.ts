/**
 * The ends of waits that a person chooses: the end of a chat's own wait, and the withdrawal of an input that waits.
 *
 * Owns: the withdrawals under way. Does not own the turns (`TurnTable`), nor the process, which decides what still waits.
 *
 * REF10. When no turn runs or is next, a cancel ends the wait of the chat (CHAT17). It is over when the store has the end, and rejects
 *        when the store fails. It never ends a later wait.
 * REF11. A withdrawn input is rejected with `withdrawn`, and so is its turn, once the store has no row of it (CHAT18). An input that is
 *        in the thread, or about to be, is not withdrawn, and neither is the end of a background task. When the store fails, the input
 *        is held until its release.
 * REF13. A verb that has no effect, or is refused, in a chat at rest has read the record first. When another program has written, the chat
 *        goes on from that record, and the verb applies to it.
 * REF14. A view, and the first item of a reader, of a chat at rest are those of the newest entry: when another program has written it, the
 *        chat has gone on from that record. When the store fails, they are those that the chat has.
 * REF12. A cancel resolves when what it names neither runs nor waits, also after a stop. It rejects for an id of which the chat has no
 *        turn, and, after a stop, for a wait that it cannot end.
 *
 * The process dies before it answers:
 *   1. the end of the process is the end of the request, without an answer.
 *   2. the request is made again, to the next process. Its state says what still waits.
 */
import { Process } from "@troupe/otp"
import { refusedArgument } from "./argumentChecks.ts"
import { type ChatContext, isAtWait } from "../loop/index.ts"
import { type Conversation, isEndInput } from "../record/index.ts"
import type { RunOptions } from "../options/index.ts"
import { SessionError, storeFailure } from "../errors/index.ts"
import { describe, original } from "../values/index.ts"
import { unknownOutcome, waitsIn } from "../inbox/index.ts"
import * as Inbox from "../inbox/Inbox.ts"
import type { LiveState } from "../view/index.ts"
import { alreadyDelivered, type AskedProcess } from "./chatCommands.ts"
import { countedOf, type TurnTable } from "./turnTable.ts"

/** The parts of a live chat that this file needs. */
interface WaitingChat {
  readonly id: string
  readonly context: ChatContext | undefined
  /** The saves of the present process, or of the last one. */
  readonly saves: { readonly version: number } | undefined
  /** The error of a chat that was stopped, or has left. */
  readonly gone: SessionError | undefined
  readonly options: () => Pick<RunOptions, "drainMs" | "system">
  /** Ends the process, which another one replaces (REF5). */
  readonly overtaken: (pid: AskedProcess["pid"]) => void
  readonly state: LiveState
  /** The present process. */
  readonly process: Pick<AskedProcess, "pid"> | undefined
  /** Calls the function with the process of the chat, which is started if there is none. */
  readonly asked: <A>(send: (process: AskedProcess) => Promise<A>) => Promise<A>
}

/** Reads the record of a chat. */
interface Stored {
  /** The stored record, after all requested saves; `undefined` if the store does not answer within `withinMs`. */
  readonly kept: (id: string, withinMs: number) => Promise<{ readonly record: Conversation | undefined } | undefined>
  /** Whether another entry than that of this number is the newest. */
  readonly hasOther: (id: string, version: number) => Promise<boolean>
}

/** The end of a request: without an error it has its effect. */
interface Answer {
  readonly error?: unknown
}

type Look = (context: ChatContext, process: AskedProcess, over: (answer: Answer) => void) => void

export class WaitEnds {
  readonly #chat: WaitingChat
  readonly #turns: TurnTable
  readonly #store: Stored
  #withdrawing: Map<string, Promise<void>> | undefined
  #reading: Promise<void> | undefined

  constructor(chat: WaitingChat, turns: TurnTable, store: Stored) {
    this.#chat = chat
    this.#turns = turns
    this.#store = store
  }

  /** Goes on from the record, if the chat is at rest and another program has written (REF13). */
  reread(): Promise<void> {
    return (this.#reading ??= this.#reread().finally(() => (this.#reading = undefined)))
  }

  /** Goes on from the record, if the newest entry is another program's (REF14). */
  async look(): Promise<void> {
    const { id, context, gone, saves } = this.#chat
    if (context === undefined || context.turn !== undefined || gone !== undefined || saves === undefined) return
    if (await this.#store.hasOther(id, saves.version)) await this.reread()
  }

  async #reread(): Promise<void> {
    // A save of this process may have been stored, and not be counted yet: a second read comes after that.
    if (!(await this.#isBehind()) || !(await this.#isBehind())) return
    const { pid } = this.#chat.process ?? {}
    if (pid !== undefined) {
      const ended = new Promise<void>((resolve) => Process.onExit(pid, () => resolve()))
      this.#chat.overtaken(pid)
      await ended
    }
    // The next process has the record.
    await this.#chat.asked(async () => {})
  }

  /** Resolves when no turn runs or is next. One that is next can come to wait for a person, or for the next chain. */
  async rests(): Promise<void> {
    const next = () => this.#turns.next(this.#chat.context)
    for (let turn = next(); turn !== undefined; turn = next()) {
      const { promise: waits, resolve } = Promise.withResolvers<void>()
      const forget = this.#chat.state.watch(() => {
        if (waitsIn(this.#chat.context, turn)) resolve()
      })
      await Promise.race([turn.ended, waits])
      forget()
    }
  }

  /** Whether the store has an entry or an input that the process does not have. Not while a turn runs, whose commit finds it. */
  async #isBehind(): Promise<boolean> {
    const { id } = this.#chat
    if (this.#chat.context?.turn !== undefined) return false
    const kept = await this.#store.kept(id, this.#chat.options().drainMs)
    const { context } = this.#chat
    if (kept === undefined || context === undefined || context.turn !== undefined) return false
    const { version = 0, inbox = [] } = kept.record ?? {}
    return version !== this.#chat.saves?.version || inbox.some((input) => !this.#has(input.id))
  }

  /** Why the view refuses a turn that nothing under way could let begin (REF13). */
  cannotBegin(turn: Parameters<typeof countedOf>[0]): SessionError | undefined {
    const { context } = this.#chat
    return context && this.#turns.cannotBegin(context, turn, this.#chat.options().system.clock)
  }

  /**
   * Cancels the turn of this input, else the turn that runs or is next; without one, ends the wait of the chat. `isOver`: the caller knows
   * that the turn is over. `chain`: the chain of the turn ends with it (CHAIN5).
   */
  async cancel(turn: string | undefined, isOver: boolean, chain?: boolean): Promise<void> {
    if (!isOver && this.#chat.gone === undefined && !this.#mayCancel(turn)) await this.reread()
    const { context } = this.#chat
    const next = this.#turns.next(context)
    if (turn === undefined) return next === undefined ? this.#endWait() : this.#turns.cancel(undefined, chain)
    if (context !== undefined && Inbox.isWaiting(context.inbox, turn) && next?.id !== turn) {
      const late = await this.withdraw(turn, "turn").catch((error: unknown) => error)
      if (late === undefined) return
      if (!isDelivered(late)) throw late
    }
    if (context?.turn === undefined && context?.record.inputs?.at(-1) === turn) return this.#endWait()
    if (!isOver && !this.#has(turn)) throw unknownTurn(this.#chat.id, turn)
    return this.#turns.cancel(turn, chain)
  }

  /** Whether this input waits for a turn of its own: the present chain is that of another turn (CHAIN5). */
  hasOwnChain(turn: string | undefined): boolean {
    const { context } = this.#chat
    if (turn === undefined || context === undefined || context.record.inputs?.includes(turn)) return false
    const isWaiting = Inbox.isWaiting(context.inbox, turn) || this.#turns.get(turn)?.over === false
    return isWaiting && this.#turns.next(context)?.id !== turn
  }

  /** Whether, as far as this program knows, a cancel has an effect. */
  #mayCancel(turn: string | undefined): boolean {
    const { context } = this.#chat
    if (context === undefined || context.turn !== undefined) return true
    if (turn === undefined) return isAtWait(context) || this.#turns.next(context) !== undefined
    const isWaiting = Inbox.isWaiting(context.inbox, turn) || this.#turns.get(turn)?.over === false
    return isWaiting || (isAtWait(context) && context.record.inputs?.at(-1) === turn)
  }

  /** Whether a turn of this id runs, waits or was the last, or the thread has an input of this id from its sender (REF9). */
  #has(turn: string): boolean {
    const { record, inbox = [] } = this.#chat.context ?? {}
    const isKnown =
      record?.inputs?.includes(turn) === true ||
      record?.known?.includes(turn) === true ||
      inbox.some(({ id }) => id === turn)
    return isKnown || this.#turns.get(turn) !== undefined
  }

  /** Why the inbox refuses a turn with this content while a turn runs; `undefined` when it accepts it (INBOX2). */
  refusal(turn: Parameters<typeof countedOf>[0]): SessionError | undefined {
    const { id, context } = this.#chat
    return this.#turns.full(id, this.#turns.running(context?.turn?.id), countedOf(turn))
  }

  /** Removes an input that waits (REF11). `argument`: the name of the id, for the refusal of the end of a task. */
  async withdraw(id: string, argument: "input" | "turn" = "input"): Promise<void> {
    if (isEndInput(id)) throw refusedArgument([argument], noWithdrawal)
    const underWay = this.#withdrawing?.get(id)
    if (underWay !== undefined) return underWay
    const withdrawing = this.#withdraw(id).finally(() => {
      this.#withdrawing?.delete(id)
      if (this.#withdrawing?.size === 0) this.#withdrawing = undefined
    })
    this.#withdrawing ??= new Map()
    this.#withdrawing.set(id, withdrawing)
    return withdrawing
  }

  async #endWait(): Promise<void> {
    const first = this.#chat.context
    if (first === undefined || !isAtWait(first)) return
    let asked: AskedProcess["pid"] | undefined
    let of: string | undefined
    await this.#until(undefined, (context, { pid }, over) => {
      if (context.turn !== undefined || (isAtWait(context) && !isSameWait(context, first))) return over({})
      if (!isAtWait(context)) {
        if (context.committed) over(context.failure === first.failure ? {} : { error: failureOf(context) })
        return
      }
      const last = context.record.inputs?.at(-1)
      if (asked === pid && of === last) return
      asked = pid
      of = last
      Process.send(pid, { type: "wait.cancel", of })
    })
  }

  async #withdraw(id: string): Promise<void> {
    const { id: chat } = this.#chat
    if (!this.#has(id)) await this.reread()
    const turn = this.#turns.get(id)
    let asked: AskedProcess["pid"] | undefined
    let waiting: Inbox.WaitingTurn | undefined
    await this.#until(turn?.ended, (context, { pid, env }, over) => {
      const entry = context.inbox.find((each) => each.id === id)
      if (entry?.status === "withdrawn") return
      if (Inbox.isWaiting(context.inbox, id)) {
        if (asked === pid) return
        asked = pid
        waiting = entry
        const counts = (kept: void | Promise<void>) =>
          void Promise.resolve(kept).then(
            () => over({}),
            (cause: unknown) => over({ error: this.#unstored(waiting, cause) })
          )
        this.#turns.withdrawing(id)
        Process.send(pid, { type: "input.withdraw", input: id, ask: env?.ask({ counts }) })
      } else if (entry !== undefined || context.record.inputs?.includes(id) || context.record.known?.includes(id)) {
        const runs = entry?.status === "taken" || (context.turn !== undefined && context.record.inputs?.includes(id))
        over({ error: alreadyDelivered(chat, id, runs) })
      } else if (asked !== pid && (turn === undefined || turn.over)) over({ error: unknownInput(chat, id) })
    })
    this.#turns.withdrawn(id, new SessionError("withdrawn", `The input ${id} was withdrawn from the chat ${chat}`))
  }

  /** The store may have the row still: the process holds the input (REF11). */
  #unstored(waiting: Inbox.WaitingTurn | undefined, cause: unknown): SessionError {
    const { id, process } = this.#chat
    if (waiting !== undefined && process !== undefined) {
      const { status: _, ask: __, ...turn } = waiting
      Process.send(process.pid, { type: "input.held", turn, status: "doubted" })
      this.#turns.get(waiting.id)?.fail(unknownOutcome(cause))
    }
    const what = `The withdrawal of ${waiting?.id} from ${id}`
    return storeFailure(`${what} could not be stored: ${describe(cause)}; it waits still, so withdraw it again`, cause)
  }

  /** Looks at the state of the chat after each of its changes, and after `also`, until the answer is there. */
  async #until(also: Promise<unknown> | undefined, look: Look): Promise<void> {
    for (;;) {
      const answer = await this.#chat.asked((process) => this.#answered(process, also, look))
      if (answer === undefined) continue
      if ("error" in answer) throw answer.error
      return
    }
  }

  /** The answer of this process; `undefined` when it ends before. */
  #answered(process: AskedProcess, also: Promise<unknown> | undefined, look: Look): Promise<Answer | undefined> {
    const { promise, resolve } = Promise.withResolvers<Answer | undefined>()
    const seen = (): void => {
      const { context } = this.#chat
      if (context !== undefined) look(context, process, resolve)
    }
    const forget = this.#chat.state.watch(seen)
    const forgetExit = Process.onExit(process.pid, () => resolve(undefined))
    void also?.then(seen)
    seen()
    return promise.finally(() => {
      forget()
      forgetExit()
    })
  }
}

const isDelivered = (error: unknown): boolean => error instanceof SessionError && error.reason === "already_delivered"

/** Whether a wait is that of the same calls, or of the same question. */
const isSameWait = ({ record: one }: ChatContext, { record: other }: ChatContext): boolean =>
  one.open?.at === other.open?.at &&
  one.pendingQuestion?.toolCallId === other.pendingQuestion?.toolCallId &&
  one.pendingToolCalls[0]?.id === other.pendingToolCalls[0]?.id

const failureOf = ({ failure }: ChatContext): unknown => (failure === undefined ? undefined : original(failure))

const noWithdrawal =
  "must_not_begin with task/: the end of a background task is no input of a sender, and joins the next turn; cancelTask ends a task that runs"

export const unknownTurn = (chat: string, turn: string): SessionError =>
  new SessionError(
    "unknown_input",
    `No turn of an input ${turn} runs, waits or is over in the chat ${chat}; pass the turn, or the id that it was sent with`,
    { metadata: { input: turn } }
  )

const unknownInput = (chat: string, input: string): SessionError =>
  new SessionError(
    "unknown_input",
    `No input ${input} waits in the chat ${chat}; inbox of its view lists those that do`,
    {
      metadata: { input }
    }
  )
