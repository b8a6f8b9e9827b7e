/**
 * A living chat as its Troupe sees it: what outlives the chat's process.
 *
 * Owns: the turns that are not over, and which of them the present process was told of. Does not own the process, nor the
 * thread and the inbox, which are the process's and the store's. Talks to the process by messages, to the Troupe to have
 * the process started and stopped.
 *
 * REF1. Every turn ends: with its result, or, when the process died in the middle of it, with a `chat_died` error. A turn
 *       that had not begun when the process died is run by the next one.
 * REF2. Turns run in the order they were sent, but those that interrupt.
 * REF4. Every input ends delivered or rejected, or is in the chat's record when the chat is stopped; none is delivered
 *       twice.
 * REF5. A chat that leaves its process for what the store has takes nothing along of what that process knew: what another
 *       program wrote is where the next one begins. An input that waited in the record is that program's then.
 *
 * A process that dies while its chat has asked the store to keep an input:
 *   1. the store keeps it, or does not; nobody is there to hear which.
 *   2. the next process starts from the record that came of it, and names the inputs that are in its thread.
 *   3. an input among them is delivered, and its turn died; one in the inbox is pending from here on, whether or not the
 *      process before could say so; any other is sent again, under the same id, as that one is.
 */
import { Process, StateMachine } from "@troupe/otp"
import { refused, type SessionError } from "../errors/index.ts"
import { type ChatContext, cutOffBy, recalledBy } from "../loop/index.ts"
import type { ChatRecord, Mode } from "../record/index.ts"
import type { Event } from "../events/index.ts"
import type { Hooks } from "../gate/index.ts"
import type { Message } from "../model/index.ts"
import { Delivery, type InboxBound } from "../inbox/index.ts"
import { chatStopped, LiveFeed, type LiveView } from "../view/index.ts"
import { controlCalls, sendMode } from "./chatCommands.ts"
import { LiveTurn } from "./liveTurn.ts"
import { LifeNotices } from "./lifeNotices.ts"
import { RestWatch } from "./restWatch.ts"
import { WaitingInputs } from "./waitingInputs.ts"
import { byUrgency, runningOf, settleReceipts, waitingMessages } from "./turnTable.ts"
import type { Decided } from "../step/index.ts"
import type { RunOptions } from "../options/index.ts"
import type { CallCommand } from "../call/index.ts"
import { alreadyDelivered, busy, type ChatPid, died } from "./chatCommands.ts"

/** What a chat needs of the Troupe it lives in. */
export interface ChatHome {
  readonly options: (id: string) => RunOptions
  readonly hooks: () => Hooks | undefined
  readonly revive: (id: string) => Promise<ChatPid>
  readonly stop: (id: string) => Promise<void>
  /** An id like no other, for an input. */
  readonly newId: () => string
  readonly inbox: () => InboxBound
  /** What the store has, after all it was asked to keep; `undefined` where it does not answer within so many milliseconds. */
  readonly kept: (id: string, withinMs: number) => Promise<ChatRecord | undefined>
}

/** How a turn is started beside its messages. */
export interface TurnStart {
  readonly retry?: boolean | undefined
  readonly delivery?: Delivery | undefined
  readonly decisions?: ReadonlyArray<Decided> | undefined
}

export class LiveChat {
  readonly id: string
  readonly view: LiveView
  readonly feed: LiveFeed
  /** An id for an input whose sender has none. */
  readonly newId: () => string
  readonly #home: ChatHome
  #pid: ChatPid | undefined
  /** The turns that are not over, by their input's id. */
  readonly #turns = new Map<string, LiveTurn>()
  readonly #sent = new Set<LiveTurn>()
  /** What is known of inputs that wait in the record, and whose turn is over. */
  readonly #waiting = new WaitingInputs()
  /** The turn that was cancelled while there was no process. */
  #cancelled: LiveTurn | undefined
  #stopping: Promise<void> | undefined
  /** Whether the process was ended because the chat rested, and there was none since. */
  #isPassive = false
  /** How many wait for the process to hear them, beside turns. */
  #asking = 0
  readonly #rest = new RestWatch()
  /** Why the process is to be another one (REF5). */
  #leaving: "conflict" | "rewind" | undefined
  readonly #notices: LifeNotices

  constructor(id: string, home: ChatHome, view: LiveView) {
    this.id = id
    this.view = view
    this.newId = home.newId
    this.feed = new LiveFeed(view, home.newId)
    this.#home = home
    this.#notices = new LifeNotices(home.hooks)
  }

  get pid(): ChatPid | undefined {
    return this.#pid
  }

  /** What the chat's process last knew. */
  get context(): ChatContext | undefined {
    return this.view.context
  }

  /** Whether a turn runs or waits, or an input is held. */
  get isBusy(): boolean {
    return (this.context?.mailbox.held.length ?? 0) > 0 || runningOf(this.#turns.values()) !== undefined
  }

  /** Whether hooks are still to hear of its end. */
  get needsEnd(): boolean {
    return this.#notices.needsEnd
  }

  /** Since when it rests, as far as was seen when it was looked at: at rest, watched by nobody, and all of it stored (PASS1). */
  idleSince(now: number): number | undefined {
    return this.#rest.since(this.#isIdle ? this.view.standing : undefined, now)
  }

  get #isIdle(): boolean {
    const isAsked = this.#turns.size > 0 || this.#waiting.size > 0 || this.#asking > 0 || this.#stopping !== undefined
    return !isAsked && this.#rest.isStored && this.view.isAtRest && !this.view.isObserved && !this.feed.isRead
  }

  /** Somebody asked for it, or holds on to it. */
  touched(): void {
    this.#rest.touched()
  }

  /** Has no process until somebody wants one (PASS2). */
  passivate(): void {
    const pid = this.#pid
    this.#pid = undefined
    this.#rest.touched()
    this.#isPassive = true
    this.feed.forgetAll()
    if (pid !== undefined) Process.exit(pid, "shutdown")
  }

  /** Somebody watches: what is seen is what a process says. */
  wake(): void {
    if (this.#isPassive && this.#stopping === undefined) this.#revive()
  }

  /** Stores a record; the chat does not rest before the store has it. */
  keep<A>(save: () => Promise<A>): Promise<A> {
    return this.#rest.keep(save)
  }

  /** Why the chat takes no such input now; `undefined` when it does (INBOX1). */
  refusal(message: Message): SessionError | undefined {
    const bound = this.#home.inbox()
    const running = bound.isBound ? runningOf(this.#turns.values()) : undefined
    const waiting =
      running === undefined ? undefined : waitingMessages(this.#turns, running, this.context?.mailbox.held)
    return waiting === undefined ? undefined : bound.refusal(this.id, waiting, message)
  }

  /** The input of this id, if it is known: on its way, held, or in the thread. */
  known(id: string): LiveTurn | undefined {
    const live = this.#turns.get(id)
    if (live !== undefined && live.status !== "rejected") return live
    if (this.context?.mailbox.held.some((entry) => entry.id === id) === true) {
      return this.release().find((turn) => turn.id === id)
    }
    return this.context?.known.includes(id) === true ? this.#delivered(id) : undefined
  }

  /** Has a turn run. */
  start(messages: ReadonlyArray<Message>, { retry = false, delivery, decisions }: TurnStart = {}): LiveTurn {
    const turn = this.#turnOf(messages, delivery, retry, decisions)
    if (this.#stopping !== undefined) {
      turn.fail(chatStopped(this.id))
      return turn
    }
    this.#notices.turnStarted()
    this.#turns.set(turn.id, turn)
    this.#waiting.delete(turn.id)
    void turn.ended.then(() => this.#forget(turn))
    if (this.#pid !== undefined) this.#deliver(turn)
    else this.#revive()
    return turn
  }

  /** A turn that is over before it began. */
  refused(error: SessionError, delivery: Delivery): LiveTurn {
    const turn = this.#turnOf([], delivery)
    turn.fail(error)
    return turn
  }

  /** Has the held inputs run, but the one a retry takes along. */
  release(except?: string): ReadonlyArray<LiveTurn> {
    const held = this.context?.mailbox.held ?? []
    return held
      .filter(({ id }) => id !== except)
      .map(
        (entry) =>
          this.#turns.get(entry.id) ?? this.start([entry.message], { delivery: this.#waiting.deliveryOf(entry) })
      )
  }

  /** Ends the running turn, and waits for that. */
  async cancel(): Promise<void> {
    const running = runningOf(this.#turns.values())
    if (running === undefined) return
    if (this.#pid === undefined) this.#cancelled = running
    else Process.send(this.#pid, { type: "turn.cancel" })
    await running.ended
  }

  /** Cancels or restarts calls of the running batch: the calls of that id, else all; resolves when that is done. */
  control(type: CallCommand["type"], toolCallId?: string): Promise<void> {
    return controlCalls(this.id, this.view.running, type, toolCallId)
  }

  /** Has the chat's process set the mode, once there is one. */
  async setPermissionMode(mode: Mode, within?: Mode | "host"): Promise<void> {
    if (this.#stopping !== undefined) throw chatStopped(this.id)
    this.#asking += 1
    try {
      const { permissions } = this.#home.options(this.id)
      const pid = this.#pid ?? (await this.#home.revive(this.id))
      await sendMode(this.id, pid, mode, within === undefined ? undefined : { within, permissions })
    } finally {
      this.#asking -= 1
    }
  }

  /** The store has what another program wrote; this process of the chat does not know it (REF5). */
  conflicted(pid: ChatPid | undefined): void {
    if (pid === undefined || pid !== this.#pid) return
    this.#leaving = "conflict"
    Process.send(pid, { type: "chat.leave" })
  }

  /**
   * Ends the process between two turns, for a record that is to take the place of what it knows (REF5). A turn that runs is
   * refused, or cancelled.
   */
  async leave(cancel: boolean): Promise<void> {
    const runs = runningOf(this.#turns.values()) !== undefined
    if (runs && !cancel) throw busy(this.id)
    const pid = this.#pid
    if (pid === undefined) return
    const { promise, resolve } = Promise.withResolvers<void>()
    Process.onExit(pid, () => resolve())
    this.#leaving = "rewind"
    Process.send(pid, { type: "chat.leave" })
    if (runs) Process.send(pid, { type: "turn.cancel" })
    await promise
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  async #stop(): Promise<void> {
    this.view.cutShort()
    await this.#home.stop(this.id)
    await settleReceipts([...this.#turns.values()], (withinMs) => this.#home.kept(this.id, withinMs))
    if (this.context !== undefined) await this.#notices.end(this.#home.options(this.id), this.context)
    if (this.#turns.size > 0) this.#endAll(chatStopped(this.id))
    for (const turn of this.#turns.values()) turn.turn.delivery?.close()
    this.#waiting.close()
    this.view.stopped()
    this.feed.end()
  }

  /** A record with what the process before knew of its running calls, and could not have kept any more. */
  recall(record: ChatRecord | undefined): ChatRecord | undefined {
    if (this.#leaving !== undefined) this.#rest.unstored(undefined)
    if (record === undefined || this.#leaving !== undefined || this.#isPassive) return record
    const recalled = this.context === undefined ? record : recalledBy(this.context, record)
    this.#rest.unstored(recalled === record ? undefined : recalled)
    return recalled
  }

  /** What the process before had its reply say that the record does not have. */
  cutOff(record: ChatRecord | undefined): string | undefined {
    const { context } = this
    return record === undefined || context === undefined || this.#isPassive || this.#leaving !== undefined
      ? undefined
      : cutOffBy(context, this.view.said(), record)
  }

  /** The supervisor started a process for this chat. */
  attached(pid: ChatPid): void {
    this.#pid = pid
    this.#isPassive = false
    this.#leaving = undefined
    this.#notices.attached(this.context)
    const snapshot = StateMachine.snapshot(pid)
    this.view.transitioned(snapshot)
    StateMachine.subscribe(pid, (next) => this.view.transitioned(next))
    Process.onExit(pid, (reason) => this.#died(pid, reason))
    this.feed.attached()
    for (const { id } of snapshot.context.mailbox.held) this.#turns.get(id)?.turn.delivery?.pend()
    const taken = new Set(snapshot.context.inputs)
    for (const id of taken) this.#waiting.taken(id)
    const left = [...this.#turns.values()].filter((turn) => !turn.over && !this.#wasTaken(turn, taken))
    const sorted = byUrgency(left)
    for (const { turn } of sorted) if (turn.delivery?.whenBusy === "steer") turn.delivery.whenBusy = "queue"
    for (const turn of sorted) this.#deliver(turn)
    if (sorted[0] !== undefined && sorted[0] === this.#cancelled) Process.send(pid, { type: "turn.cancel" })
    this.#cancelled = undefined
  }

  /** Whether the process that died had this turn's input kept; then the turn died with it. */
  #wasTaken(turn: LiveTurn, taken: ReadonlySet<string>): boolean {
    if (!taken.has(turn.id)) return false
    turn.turn.delivery?.deliver(turn.turn)
    turn.fail(died(this.id, undefined))
    return true
  }

  /** The option of that name. */
  get maxToolResultCharacters(): number {
    return this.#home.options(this.id).maxToolResultCharacters
  }

  #turnOf(
    messages: ReadonlyArray<Message>,
    delivery?: Delivery,
    retry = false,
    decisions?: ReadonlyArray<Decided>
  ): LiveTurn {
    const said = { messages, retry, ...(decisions === undefined ? {} : { decisions }) }
    return new LiveTurn(said, this.#home.options(this.id), this.#published, delivery)
  }

  readonly #published = (event: Event): void => {
    this.feed.published(event)
    this.view.changed()
  }

  #deliver(turn: LiveTurn): void {
    if (this.#pid === undefined || turn.over || this.#sent.has(turn)) return
    this.#sent.add(turn)
    Process.send(this.#pid, { type: "turn.start", turn: turn.turn })
  }

  #revive(): void {
    this.#home.revive(this.id).catch((error: unknown) => this.#endAll(error))
  }

  #died(pid: ChatPid, reason: unknown): void {
    if (this.#pid !== pid) return
    this.#pid = undefined
    this.view.cutShort()
    this.#sent.clear()
    if (this.#stopping !== undefined) return
    const isConflict = this.#leaving === "conflict"
    let mustRevive = isConflict
    for (const turn of Array.from(this.#turns.values())) {
      if (isConflict && turn.status === "pending") turn.fail(refused("store_conflict", this.id))
      else if (turn.status === "delivered") turn.fail(died(this.id, reason))
      else if (!turn.over) mustRevive = true
    }
    if (mustRevive) this.#revive()
  }

  /** A turn that failed while its process goes on failed at the reader's side (a throw of `onEvent`): the process cannot go on. */
  #forget(turn: LiveTurn): void {
    if (this.#turns.get(turn.id) === turn) this.#turns.delete(turn.id)
    const { delivery, outlet } = turn.turn
    if (delivery?.status === "pending") this.#waiting.add(delivery)
    const isRunning = this.#sent.delete(turn) && outlet.begun
    if (isRunning && turn.failure !== undefined && this.#pid !== undefined) Process.exit(this.#pid, turn.failure.error)
  }

  #endAll(error: unknown): void {
    for (const turn of Array.from(this.#turns.values())) turn.fail(error)
  }

  #delivered(id: string): LiveTurn {
    const delivery = new Delivery("queue", id, true, { status: "delivered" })
    return this.refused(alreadyDelivered(this.id, id), delivery)
  }
}
