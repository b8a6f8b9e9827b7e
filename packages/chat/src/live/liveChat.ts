/**
 * The part of a live chat that outlives its process.
 *
 * Owns: which process the chat has, and why it is replaced. Does not own the turns (`TurnTable`), nor the thread and the inbox,
 * which belong to the process and the store. Sends messages to the process, and asks the Troupe to start and stop it.
 *
 * REF1. Every turn ends: with its result, or with a `chat_died` error when the process died during the turn. When the
 *       process dies before a turn begins, the next process runs the turn.
 * REF4. The store has the row of an input that waits before the process has the input. Every input ends delivered or rejected, or
 *       its row is in the store when the chat is stopped. No input is delivered twice.
 * REF8. When a chat leaves, it ends as if it was stopped, but the store has the text of its reply, and its readers and its
 *       turns fail with `moved`.
 * REF5. When a chat replaces its process because the store has a newer record, it discards the state of that process: the
 *       next process starts from the record of the other program. An input that waits in the record belongs to that
 *       program.
 *
 * When a process dies after the store has the row of an input:
 *   1. the next process starts from the stored record, with the rows. It lists the inputs that are in its thread.
 *   2. an input in the thread is delivered, and its turn has died.
 *   3. any other turn is sent again, under the same id. If the process holds the row, that is the release of the input.
 */
import { Process, StateMachine } from "@troupe/otp"
import { type Serving, stamped } from "../agents/index.ts"
import { refused, SessionError } from "../errors/index.ts"
import { type ChatContext, type ChatEnv, cutOffBy, LifeNotices } from "../loop/index.ts"
import type { AgentRef, Conversation, InboxEntry, Mode } from "../record/index.ts"
import type { Accepted, Fence } from "../store/index.ts"
import type { Event } from "../events/index.ts"
import type { Hooks } from "../gate/index.ts"
import type { Message } from "../model/index.ts"
import {
  type Delivery,
  type InboxLimits,
  questionName,
  questionOf,
  requestRefusal,
  type Turn,
  waitsIn
} from "../inbox/index.ts"
import { chatMoved, chatStopped, LiveFeed, type LiveState, type LiveView } from "../view/index.ts"
import {
  type AskedProcess,
  sendAgent,
  sendMode,
  busy,
  type ChatPid,
  type ChatProcess,
  died,
  hasDied
} from "./chatCommands.ts"
import { LiveTurn } from "./liveTurn.ts"
import { heldInputs, knownInput, releasedInputs, retried } from "./heldInputs.ts"
import { RestWatch } from "./passivation.ts"
import { WaitEnds } from "./waitEnds.ts"
import { settleReceipts, type TurnsHome, TurnTable } from "./turnTable.ts"
import type { Asked, Decided } from "../step/index.ts"
import type { RunOptions, TurnOptions } from "../options/index.ts"

/** The functions that a chat needs from its Troupe. */
export interface ChatHome {
  /** The options of a turn of an agent; `turn` are those that the turn has for itself. */
  readonly options: (id: string, turn: TurnOptions | undefined, agent: string | undefined) => RunOptions
  /** The own options of a turn that begins without any. */
  readonly ownOptions?: ((id: string) => TurnOptions | undefined) | undefined
  readonly serving: (agent: string | undefined) => Serving
  /** The agent of this name. Throws when the Troupe has none. */
  readonly agentRef: (name: string) => AgentRef
  readonly hooks: () => Hooks | undefined
  /** The host, or a client, has set the permission mode of the chat. */
  readonly modeSet: (id: string) => Promise<void>
  readonly revive: (id: string) => Promise<ChatPid>
  /** Whether the chat must stay in memory for its background tasks. */
  readonly isNeeded?: ((id: string) => boolean) | undefined
  /** Ends the process, and forgets the chat. With `isMoved` the store has the draft of its reply then. */
  readonly stop: (id: string, isMoved: boolean) => Promise<void>
  /** Called when a process of the chat has ended: no more drafts of it follow. */
  readonly left: (id: string) => void
  /** A unique id for an input. */
  readonly newId: () => string
  readonly limits: () => InboxLimits
  /** Stores an input as a row of its own; resolves when the store has it. */
  readonly accept: (id: string, input: InboxEntry, fence: Fence | undefined) => Promise<Accepted>
  /** The error of a decision that came too late, with what was decided; `undefined` for another error. */
  readonly completed?: (
    call: { readonly id: string; readonly asked: Asked },
    error: unknown
  ) => Promise<unknown> | undefined
  /** The stored record, after all requested saves; `undefined` if the store does not answer within `withinMs`. */
  readonly kept: (id: string, withinMs: number) => Promise<{ readonly record: Conversation | undefined } | undefined>
  /** Whether another entry than that of this number is the newest of the stored chat. Reads at most two entries. */
  readonly hasOther: (id: string, version: number) => Promise<boolean>
}

/** The options of a turn beside its messages. */
export interface TurnStart {
  readonly retry?: boolean | undefined
  readonly compacts?: boolean | undefined
  readonly attempt?: number | undefined
  readonly delivery?: Delivery | undefined
  readonly decisions?: ReadonlyArray<Decided> | undefined
  /** The digest of answers that their sender named (ARR5). */
  readonly digest?: string | undefined
  readonly renews?: boolean | undefined
  readonly options?: TurnOptions | undefined
  /** The model that the input was sent with. */
  readonly model?: string | undefined
  /** The question that the input may answer (MAIL5). */
  readonly answers?: string | undefined
  /** Whether the view refuses the turn (REF13). */
  readonly isRefused?: boolean | undefined
}

/** How often a process is started for turns that wait, if each one dies at its start. */
const mostStarts = 5

/**
 * Starts a process again when it died during its start: then no other start was begun. Throws `error` after the last one.
 */
const startUntil = async (start: () => Promise<unknown>, isOver: () => boolean, error: () => Error): Promise<void> => {
  for (let starts = 0; starts < mostStarts; starts++) {
    await start()
    if (isOver()) return
  }
  throw error()
}

/** What a turn adds, and the options that it has for itself. */
const saidBy = (
  home: ChatHome,
  id: string,
  messages: ReadonlyArray<Message>,
  {
    retry = false,
    compacts,
    attempt,
    decisions,
    digest,
    renews,
    options = home.ownOptions?.(id),
    model,
    answers
  }: TurnStart
): Pick<
  Turn,
  "messages" | "retry" | "compacts" | "attempt" | "decisions" | "digest" | "renews" | "own" | "model" | "answers"
> => {
  const own = model === undefined ? options : { ...options, model }
  return {
    messages,
    retry,
    ...(compacts === true && { compacts }),
    ...(attempt !== undefined && { attempt }),
    ...(decisions !== undefined && { decisions }),
    ...(digest !== undefined && { digest }),
    ...(renews === true && { renews }),
    ...(own !== undefined && { own }),
    ...(model !== undefined && { model }),
    ...(answers !== undefined && { answers })
  }
}

/** Adds to the error of a turn what became of its decision. */
const completionOf = (
  home: ChatHome,
  id: string,
  { decisions }: TurnStart
): ConstructorParameters<typeof LiveTurn>[4] =>
  decisions === undefined
    ? undefined
    : (error) => {
        const wrong = error instanceof SessionError ? error.metadata["toolCallId"] : undefined
        const asked = decisions.find(({ toolCallId }) => toolCallId === wrong) ?? decisions[0]
        return asked && home.completed?.({ id, asked }, error)
      }

/** The question that a chat asks: while a turn runs, the one that this turn has shown. */
const questionNow = (context: ChatContext | undefined, shown: string | undefined): string | undefined => {
  if (context?.turn === undefined || context.result !== undefined) return context && questionOf(context)
  return shown?.startsWith(questionName(context.turn.id, "")) === true ? shown : undefined
}

export class LiveChat implements TurnsHome {
  readonly id: string
  readonly state: LiveState
  readonly view: LiveView
  readonly feed: LiveFeed
  /** The fence of all writes of this chat (HOME1). */
  readonly fence: Fence | undefined
  /** An id for an input whose sender has none. */
  readonly newId: () => string
  readonly #home: ChatHome
  #pid: ChatPid | undefined
  /** The environment of the present process, or of the last one. */
  #env: ChatEnv | undefined
  /** The saves of the present process, or of the last one. */
  saves: { readonly version: number } | undefined
  readonly #turns: TurnTable
  #stopping: Promise<void> | undefined
  /** The error of a chat that has left, or leaves. */
  #moved: SessionError | undefined
  /** Whether the process was ended because the chat rested, and there was none since. */
  #isPassive = false
  /** The question that the running turn has shown. */
  #shown: string | undefined
  /** How many requests other than turns wait for the process. */
  #asking = 0
  readonly rest = new RestWatch()
  #ends: WaitEnds | undefined
  /** Why the process is to be another one (REF5). */
  #leaving: "conflict" | "rewind" | undefined
  readonly #notices: LifeNotices

  constructor(id: string, home: ChatHome, { state, view }: Pick<LiveChat, "state" | "view">, fence?: Fence) {
    this.id = id
    this.fence = fence
    this.state = state
    this.view = view
    this.newId = home.newId
    this.feed = new LiveFeed(view, home.newId)
    this.#home = home
    this.#notices = new LifeNotices(home.hooks)
    this.#turns = new TurnTable(this)
  }

  get pid(): ChatPid | undefined {
    return this.#pid
  }

  /** The ends of waits that a person chooses. */
  get ends(): WaitEnds {
    return (this.#ends ??= new WaitEnds(this, this.#turns, this.#home))
  }

  get limits(): InboxLimits {
    return this.#home.limits()
  }

  /** The present process, and its environment. */
  get process(): ChatProcess | undefined {
    return this.#pid === undefined || this.#env === undefined ? undefined : { pid: this.#pid, env: this.#env }
  }

  /** Stores an input as a row of its own; resolves when the store has it. */
  accept(input: InboxEntry): Promise<Accepted> {
    return this.#home.accept(this.id, stamped(input, this.context?.record), this.fence)
  }

  /** The options of a turn, by default of the present agent; `own` are those that the turn has for itself. */
  options(own?: TurnOptions, agent = this.context?.record.agent?.name): RunOptions {
    return this.#home.options(this.id, own, agent)
  }

  serving(agent: string | undefined): Serving {
    return this.#home.serving(agent)
  }

  /** The last known context of the chat's process. */
  get context(): ChatContext | undefined {
    return this.state.context
  }

  /** Whether a turn runs or is next, or an input of an earlier process is. */
  get isBusy(): boolean {
    return this.#turns.next(this.context) !== undefined || heldInputs(this).some((held) => !waitsIn(this.context, held))
  }

  get #running(): LiveTurn | undefined {
    return this.#turns.running(this.context?.turn?.id)
  }

  /** Whether `SessionEnd` hooks must still run. */
  get needsEnd(): boolean {
    return this.#notices.needsEnd
  }

  /**
   * Since when the chat is idle, as seen by the checks so far: at rest, without observers, and stored completely (PASS1).
   */
  idleSince(now: number): number | undefined {
    return this.rest.since(this.#isIdle ? this.state.changes : undefined, now)
  }

  get #isIdle(): boolean {
    const isAsked = this.#turns.size > 0 || this.#asking > 0 || this.#home.isNeeded?.(this.id) === true
    return (
      this.#stopping === undefined &&
      !isAsked &&
      this.rest.isStored &&
      this.state.isAtRest &&
      !this.view.isObserved &&
      !this.feed.isRead
    )
  }

  /** Ends the process until the chat is used again (PASS2). */
  passivate(): void {
    const pid = this.#pid
    this.#pid = undefined
    this.rest.touched()
    this.#isPassive = true
    this.feed.forgetAll()
    if (pid !== undefined) Process.exit(pid, "shutdown")
  }

  /** Starts a process for an observer, because snapshots come from a process. */
  wake(): void {
    if (this.#isPassive && this.#stopping === undefined) this.#revive()
  }

  /** Why the chat refuses this input now; `undefined` if it accepts it (INBOX1). An accepted input is never refused. */
  refusal(message: Message): SessionError | undefined {
    const { context } = this
    const { clock } = this.#env ?? this.options().system
    const isKnown = context !== undefined && this.#leaving === undefined
    const refusal = isKnown ? this.#turns.cannotBegin(context, { messages: [message] }, clock) : undefined
    return refusal ?? this.#turns.full(this.id, this.#running, message)
  }

  /** The input of this id, if it is known: on its way, held, or in the thread. */
  known(id: string): LiveTurn | undefined {
    return knownInput(this, this.#turns, id)
  }

  /** Starts a turn. */
  start(messages: ReadonlyArray<Message>, options: TurnStart = {}, made?: LiveTurn): LiveTurn {
    const turn = made ?? this.turnOf(messages, options)
    if (this.gone !== undefined) return turn.fail(this.gone)
    this.#notices.turnStarted()
    void turn.ended.then(() => this.#forget(turn))
    this.#turns.start(turn, options.isRefused)
    if (this.#pid === undefined) this.#revive()
    return turn
  }

  /** A turn that fails before it begins. */
  refused(error: SessionError, delivery: Delivery): LiveTurn {
    return this.turnOf([], { delivery }).fail(error)
  }

  /** Starts the held inputs, and returns their turns. */
  release(): ReadonlyArray<LiveTurn> {
    return releasedInputs(this, this.#turns)
  }

  /** Starts the turn of an input that could not be stored; without one, the last question runs again. */
  retry(options?: Parameters<typeof retried>[2]): LiveTurn {
    return retried(this, this.#turns, options)
  }

  /** Adds an event of a child to the running turn. */
  pass(event: Event): void {
    this.#running?.pass(event)
  }

  /** Cancels the running turn or the next one, and waits for its end (REF9). */
  cancelTurn(): Promise<void> {
    return this.#turns.cancel()
  }

  /** Sets the mode in the chat's process. */
  setPermissionMode(mode: Mode, within?: Mode | "host"): Promise<void> {
    const bound = () => within && { within, permissions: this.options().permissions }
    return this.asked((to) => sendMode(this.id, to, mode, bound()), true).then(() => this.#home.modeSet(this.id))
  }

  /** Hands the conversation over to an agent. */
  handOff(name: string): Promise<void> {
    const agent = this.#home.agentRef(name)
    return this.asked((process) => sendAgent(this.id, process, agent), true)
  }

  /** Sends a request to the chat's process, which is started if there is none. Refuses a bounded one while too many wait (INBOX2). */
  async asked<A>(send: (process: AskedProcess) => Promise<A>, isBounded = false): Promise<A> {
    const refusal = this.gone ?? (isBounded ? requestRefusal(this.id, this.#asking, this.limits) : undefined)
    if (refusal !== undefined) throw refusal
    this.#asking += 1
    try {
      return await send({ pid: this.#pid ?? (await this.#home.revive(this.id)), env: this.#env })
    } catch (error) {
      throw hasDied(error) ? (this.gone ?? error) : error
    } finally {
      this.#asking -= 1
    }
  }

  /** Replaces the process because another program has written to the store (REF5). */
  overtaken(pid: ChatPid | undefined): void {
    if (pid === undefined || pid !== this.#pid) return
    this.#leaving = "conflict"
    Process.send(pid, { type: "chat.leave" })
  }

  /**
   * Ends the process between two turns, so that the next one starts from another record (REF5). If a turn runs, throws
   * `busy`, or cancels the turn.
   */
  async endBetweenTurns(cancel: boolean): Promise<void> {
    const runs = this.#running !== undefined
    if (runs && !cancel) throw busy(this.id)
    const pid = this.#pid
    if (pid === undefined) return
    const ended = new Promise<void>((resolve) => Process.onExit(pid, () => resolve()))
    this.#leaving = "rewind"
    Process.send(pid, { type: "chat.leave" })
    if (runs) Process.send(pid, { type: "turn.cancel" })
    await ended
  }

  stop(): Promise<void> {
    return (this.#stopping ??= this.#stop())
  }

  /** Ends the chat here, so that its next start continues it (REF8). A chat that is stopped already does not leave. */
  leave(): Promise<void> {
    if (this.#stopping === undefined) this.#moved = chatMoved(this.id)
    return this.stop()
  }

  /** Leaves, because this program is no longer the home of the chat; resolves with the error for its callers (HOME2). */
  away(): Promise<SessionError> {
    return this.leave().then(() => this.gone ?? chatStopped(this.id))
  }

  /** The error of a chat that was stopped, or has left; `undefined` for another chat. */
  get gone(): SessionError | undefined {
    return this.#stopping && (this.#moved ?? chatStopped(this.id))
  }

  async #stop(): Promise<void> {
    const text = this.#moved && this.state.text
    this.state.cutShort()
    await this.#home.stop(this.id, this.#moved !== undefined)
    await settleReceipts(this.#turns.all, (withinMs) => this.#home.kept(this.id, withinMs), this.gone)
    if (this.context !== undefined) await this.#notices.end(this.options(), this.context)
    if (this.#turns.size > 0) this.#turns.fail(this.gone)
    this.#turns.close()
    this.view.stopped(text)
    this.feed.end(this.#moved)
  }

  /** A record with the state of running calls that the process before had, and could no longer store. */
  recall(record: Conversation | undefined): Conversation | undefined {
    if (this.#leaving !== undefined) this.rest.unstored(undefined)
    return this.#startsAnew ? record : this.rest.recalled(record, this.#env)
  }

  /** The text of the previous process's reply that the record does not have. */
  cutOff(record: Conversation | undefined): string | undefined {
    const known = record === undefined || this.#startsAnew ? undefined : this.context
    return record === undefined || known === undefined ? undefined : cutOffBy(known, this.state.text, record)
  }

  /** Whether the next process starts from the record alone. */
  get #startsAnew(): boolean {
    return this.#isPassive || this.#leaving !== undefined
  }

  /** Called when the supervisor has started a process for this chat. */
  attached({ pid, env, saves }: ChatProcess & Pick<LiveChat, "saves">): void {
    this.#pid = pid
    this.saves = saves
    this.#env = env
    this.#isPassive = false
    this.#leaving = undefined
    this.#notices.attached(this.context)
    this.view.attached(env)
    StateMachine.watch(pid, (machine) => this.state.transitioned(machine))
    Process.onExit(pid, (reason) => this.#died(pid, reason))
    this.feed.attached()
    if (this.context !== undefined) this.#turns.attached(this.context, () => died(this.id, undefined))
  }

  /** A turn that is not started. */
  turnOf(messages: ReadonlyArray<Message>, start: TurnStart): LiveTurn {
    const said = saidBy(this.#home, this.id, messages, start)
    const complete = completionOf(this.#home, this.id, start)
    return new LiveTurn(said, this.options(said.own), this, start.delivery, complete)
  }

  /** The question that a sender can see now (MAIL5). */
  get question(): string | undefined {
    return questionNow(this.context, this.#shown)
  }

  /** Handles an event of a turn. */
  published(event: Event): void {
    if (event.type === "ask_user_requested") this.#shown = questionName(this.context?.turn?.id, event.toolCallId)
    this.feed.published(event)
    this.view.published(event)
  }

  /** Starts a process for the turns that wait; they fail when there is none. */
  #revive(): void {
    const isOver = () => this.#pid !== undefined || this.#stopping !== undefined || this.#turns.size === 0
    const start = () => this.#home.revive(this.id)
    startUntil(start, isOver, () => died(this.id, undefined)).catch((error: unknown) => {
      // A stop reads from the store what became of the inputs.
      if (this.#stopping === undefined) this.#turns.abandon(error)
    })
  }

  #died(pid: ChatPid, reason: unknown): void {
    if (this.#pid !== pid) return
    this.#pid = undefined
    this.state.cutShort()
    this.#home.left(this.id)
    this.#turns.died()
    if (this.#stopping !== undefined) return
    const isConflict = this.#leaving === "conflict"
    let mustRevive = isConflict
    for (const turn of this.#turns.left) {
      if (isConflict && turn.status === "pending") turn.fail(refused("store_conflict", this.id))
      else if (turn.status === "delivered") turn.fail(died(this.id, reason))
      else if (!turn.over) mustRevive = true
    }
    if (mustRevive) this.#revive()
  }

  /**
   * Forgets a turn that ended. A turn that failed while its process runs failed in the reader (`onEvent` threw): ends the
   * process.
   */
  #forget(turn: LiveTurn): void {
    this.#turns.ended(turn)
    const isRunning = turn.turn.outlet.begun && this.context?.turn?.id === turn.id
    if (isRunning && turn.failure !== undefined && this.#pid !== undefined) Process.exit(this.#pid, turn.failure.error)
  }
}
