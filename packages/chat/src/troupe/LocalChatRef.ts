/**
 * The address of a live chat of this program. It stays valid when the chat's process ends.
 *
 * Owns: the turn of the last retry, with the inputs that it answers. Does not own the process, which its supervisor
 * restarts, nor the thread, which the store keeps.
 *
 * REF7. A `send` with the id of an input whose turn runs, waits or is held returns that turn, the same object. So does a
 *       `send` with the id of an input whose question a retry answers now.
 */
import type { Pid } from "@troupe/otp"
import type {
  Attached,
  Attachment,
  CallItem,
  ChatSnapshot,
  LocalAttachOptions,
  ShownTask,
  SnapshotObserver
} from "../view/index.ts"
import {
  type Decision,
  isChildId,
  type Mode,
  type SendOptions,
  sentByTool,
  type TaskEnd,
  type UserInput
} from "../record/index.ts"
import { isRecord, SessionError, ValidationError } from "../errors/index.ts"
import {
  type AnswerOptions,
  type Answers,
  answersDigest,
  contentDigest,
  Delivery,
  hasOther,
  type Turn,
  undecidedCall,
  unknownToolCall,
  withoutQuestion,
  withoutResults
} from "../inbox/index.ts"
import { boundDecision, decidedBefore } from "../step/index.ts"
import { type Inspect, inspected, printed } from "../json/index.ts"
import type { AskOptions, CancelOptions, ChatRef, SetModeOptions } from "./ChatRef.ts"
import { ignoreRejection } from "../async/index.ts"
import {
  argumentChecks,
  compacted,
  refusedArgument,
  controlCalls,
  decidedTasks,
  sendChainEnd,
  unknownTurn,
  type LiveChat,
  type TurnStart,
  type LiveTurn,
  type WaitEnds
} from "../live/index.ts"
import { asSent, fileFinding, type Message, type Thread, type UserMessage } from "../model/index.ts"
import type { BackgroundTasks } from "../children/index.ts"
import type { CallCommand } from "../call/index.ts"
import type { ChatContext } from "../loop/index.ts"
import { type TurnOptions, asking } from "../options/index.ts"
import { submittedMessage } from "../tool/index.ts"
import * as ChatView from "../view/ChatView.ts"
import * as Threads from "../model/Thread.ts"

/** The options of a turn in place of the Troupe's. */
interface OwnOptions {
  /**
   * The options that the turn has for itself. Default: those of the Troupe. They do not apply to an input that steers another
   * turn.
   */
  readonly options?: TurnOptions | undefined
}

/** The options of a turn that decides. */
interface DecisionOptions extends OwnOptions {
  /** Whether the limits of the chain count anew from the turn that the decisions begin. Default: `false`. */
  readonly renew?: boolean | undefined
}

/**
 * A chat of this program.
 *
 * **Details**: it has what `ChatRef` has, and what cannot cross a network: the process, and the present thread and
 * snapshots, at once and with the values themselves. `leave` is here because only the program that runs a chat can end it.
 */
export class LocalChatRef implements ChatRef {
  /** The id of the conversation. */
  readonly id: string
  readonly #chat: LiveChat
  readonly #tasks: BackgroundTasks
  /** The turn of the last retry, and the ids of the inputs that it answers (REF7). */
  #retried: { readonly turn: LiveTurn; readonly inputs: ReadonlyArray<string> } | undefined

  /** Created by the Troupe. */
  constructor(chat: LiveChat, tasks: BackgroundTasks) {
    this.id = chat.id
    this.#chat = chat
    this.#tasks = tasks
  }

  /** The chat's process; `undefined` while there is none. */
  get pid(): Pid | undefined {
    return this.#chat.pid
  }

  /** The thread as last committed or extended. */
  get thread(): Thread {
    return this.#chat.context?.record.thread ?? Threads.empty
  }

  /** The running turn; `undefined` when its result is there. */
  get turn(): Turn | undefined {
    return this.#chat.view.turn
  }

  send<A = unknown>(input: UserInput, given: AskOptions<A> & OwnOptions = {}): LiveTurn<A> {
    const { schema, ...options } = argumentChecks.ask(given, ["whenBusy", "id", "model", "schema", "options"])
    const said = this.#message(input)
    const message = schema === undefined ? said : asking(said, schema)
    return this.#send(message, { ...options, answers: this.#chat.question }).answering(schema)
  }

  /** Sends the input of a tool's handler, which joins the running turn, or begins one that counts for the last input of a person. */
  note(input: UserInput, options: SendOptions = {}): LiveTurn {
    const given = argumentChecks.ask(options, ["whenBusy", "id", "model"])
    return this.#send(sentByTool(this.#message(input)), { whenBusy: "steer", ...given })
  }

  /** MEDIA3 */
  #message(input: UserInput): UserMessage {
    return this.#stored(argumentChecks.message(input))
  }

  #stored(message: UserMessage): UserMessage {
    if (typeof message.content === "string") return message
    const { blobs, maxFileBytes } = this.#chat.options()
    const found = fileFinding(message.content, maxFileBytes)
    if (found !== undefined) throw new ValidationError("invalid_message", [found])
    const content = blobs?.referring(message.content) ?? message.content
    return content === message.content ? message : { ...message, content }
  }

  #send(
    message: UserMessage,
    { whenBusy = "queue", id, model, answers, options }: SendOptions & OwnOptions & Pick<TurnStart, "answers">
  ): LiveTurn {
    const known = id === undefined ? undefined : this.#known(id)
    // A record of an earlier version has the images and files of its input as they were sent.
    if (known !== undefined) return sameTurn(known, this.#chat.context, [message, asSent(message)].map(contentDigest))
    const [named, inputId] = [id !== undefined, id ?? this.#chat.newId()]
    if (whenBusy === "reject" && this.#chat.isBusy) {
      this.#chat.release()
      return this.#chat.refused(busy(this.id), new Delivery("queue", inputId, named))
    }
    const delivery = new Delivery(whenBusy === "reject" ? "queue" : whenBusy, inputId, named)
    if (whenBusy !== "interrupt") this.#chat.release()
    const refusal = this.#chat.refusal(message)
    if (refusal?.reason === "inbox_full") return this.#chat.refused(refusal, delivery)
    const turn = this.#chat.start([message], { delivery, options, model, answers, isRefused: refusal !== undefined })
    if (whenBusy === "interrupt") this.#chat.release()
    return turn
  }

  retry(
    given?: OwnOptions & {
      /**
       * The least number of the answer. The number is stored with the last message of a person, and grows with each such retry. Default:
       * the number stays.
       */
      readonly attempt?: number | undefined
    }
  ): LiveTurn {
    const again = argumentChecks.answering(given, ["options", "attempt"])
    const full = this.#full({ messages: [] })
    if (full !== undefined) return full
    const inputs = this.#lastInputs()
    const turn = this.#chat.retry(again)
    this.#retried = turn.turn.retry === true ? { turn, inputs } : undefined
    return turn
  }

  compact(): LiveTurn {
    return compacted(this.#chat)
  }

  /** The ids of the inputs that the last turn answered; a retry answers those of the turn before. */
  #lastInputs(): ReadonlyArray<string> {
    const inputs = this.#chat.context?.record.inputs ?? []
    const before = this.#retried
    return before !== undefined && inputs.includes(before.turn.id) ? [...before.inputs, ...inputs] : inputs
  }

  /** The turn of the input with this id, if it is known (REF7). */
  #known(id: string): LiveTurn | undefined {
    const known = this.#chat.known(id)
    const again = this.#retried
    return known?.over === true && again?.turn.over === false && again.inputs.includes(id) ? again.turn : known
  }

  resume(): ReadonlyArray<LiveTurn> {
    const turns = this.#chat.release()
    // Without the record there is no input to run: the next verb reads it.
    if (turns.length === 0) ignoreRejection(this.#chat.ends.reread().then(() => this.#chat.release()))
    return turns
  }

  submitToolResults(
    results: Readonly<Record<string, unknown>>,
    given?: OwnOptions & {
      /** A message of the user that follows the results in the same turn. Default: none. */
      readonly input?: UserInput | undefined
    }
  ): LiveTurn {
    argumentChecks.results(results)
    const { input, options } = argumentChecks.answering(given, ["options", "input"])
    return this.answer({ results, input }, { options })
  }

  answer(answers: Answers, given: AnswerOptions & DecisionOptions = {}): LiveTurn {
    const { id, options, renew } = argumentChecks.answering(given, ["id", "options", "renew"])
    const { decisions, results, input } = argumentChecks.answers(answers)
    const message = input && this.#stored(input)
    const ids = Object.keys(results)
    if (message !== undefined && decisions.length === 0 && ids.length === 0)
      return this.#reply(message, { id, options })
    const known = id === undefined ? undefined : this.#known(id)
    const pending = this.#chat.context?.record.pendingToolCalls.map((call) => call.id) ?? []
    const unknown = known === undefined ? ids.find((one) => !pending.includes(one)) : undefined
    if (unknown !== undefined) {
      this.#reread()
      throw unknownToolCall(unknown, new Set(pending))
    }
    const limits = this.#chat.options(options)
    const inOrder = [...new Set([...pending, ...ids])].filter((one) => Object.hasOwn(results, one))
    const submitted = inOrder.map((one): Message => submittedMessage(one, results[one], limits))
    const messages = message === undefined ? submitted : [...submitted, message]
    const digest = id === undefined ? undefined : answersDigest(decisions, messages)
    if (known !== undefined && digest !== undefined) return sameTurn(known, this.#chat.context, [digest])
    if (decisions.length === 0 && messages.length === 0)
      return this.#refused(withoutResults(this.#chat.context?.record))
    const context = this.#chat.view.snapshot()?.context
    const engineOf = (agent: string) => this.#chat.serving(agent).engine
    const waiting = this.#chat.context?.record.tasks
    const state = context && { ...context, waiting, given: options?.tools, engineOf, limits }
    const bound = decisions.map((one) => boundDecision(one.decision, one.toolCallId, state))
    const late = context && bound.map(({ toolCallId }) => unlistedCall(context, toolCallId)).find((one) => one)
    if (late !== undefined) return this.#refused(late)
    const turn = { messages, decisions: bound.length === 0 ? undefined : bound }
    const delivery = id === undefined ? undefined : new Delivery("queue", id)
    const start = { options, renews: renew, delivery, digest, decisions: turn.decisions }
    return this.#full(turn) ?? decidedTasks(this.#chat, messages, start) ?? this.#start(turn, start)
  }

  /** Answers the question that the chat asks. */
  #reply(message: UserMessage, sent: Pick<SendOptions, "id"> & OwnOptions): LiveTurn {
    const { question } = this.#chat
    if (question === undefined && (sent.id === undefined || this.#known(sent.id) === undefined)) {
      this.#reread()
      return this.#refused(withoutQuestion(this.#chat.context?.record))
    }
    return this.#send(message, { ...sent, answers: question })
  }

  /** The record may have what is answered: then the next answers are for it (REF13). */
  #reread(): void {
    ignoreRejection(this.#chat.ends.reread())
  }

  attach(options?: LocalAttachOptions & { readonly calls?: false | undefined }): Attachment
  attach(options: LocalAttachOptions): Attachment<Attached | CallItem>
  attach(options: LocalAttachOptions = {}): Attachment<Attached | CallItem> {
    const attached = this.#chat.feed.attach<Attached | CallItem>(this.id, options)
    this.#chat.wake()
    ignoreRejection(this.look())
    return attached
  }

  approve(toolCallId: string, decision: Decision, given?: DecisionOptions): LiveTurn {
    argumentChecks.toolCallId(toolCallId)
    return this.answer({ decisions: { [toolCallId]: decision } }, argumentChecks.answering(given, ["options", "renew"]))
  }

  /** Starts a turn without an input (REF13). */
  #start(turn: Parameters<WaitEnds["cannotBegin"]>[0], start: TurnStart): LiveTurn {
    return this.#chat.start(turn.messages, { ...start, isRefused: this.#chat.ends.cannotBegin(turn) !== undefined })
  }

  /** The refused turn of a content that the inbox has no place for (INBOX2). */
  #full(turn: Parameters<WaitEnds["cannotBegin"]>[0]): LiveTurn | undefined {
    const full = this.#chat.ends.refusal(turn)
    return full && this.#refused(full)
  }

  #refused(error: SessionError): LiveTurn {
    return this.#chat.refused(error, new Delivery("queue", this.#chat.newId(), false))
  }

  async cancel(options?: CancelOptions): Promise<void> {
    const { turn: id, tasks } = argumentChecks.cancel(options)
    const again = this.#retried
    const turn = id !== undefined && again?.inputs.includes(id) === true ? again.turn.id : id
    if (tasks && !this.#chat.ends.hasOwnChain(turn)) await this.#chat.asked((process) => sendChainEnd(this.id, process))
    await this.#chat.ends.cancel(turn, argumentChecks.isOver(options?.turn), tasks)
    if (tasks) await this.#tasks.cancelAll(this.id)
  }

  async withdraw(input: string | { readonly id: string }): Promise<void> {
    await this.#chat.ends.withdraw(argumentChecks.input(input))
  }

  cancelToolCall(toolCallId: string): Promise<void> {
    return this.#controlOne("calls.cancel", toolCallId)
  }

  /** Not async: the promise resolves before the next question of the batch is asked. */
  #controlOne(type: CallCommand["type"], toolCallId: string): Promise<void> {
    try {
      return this.#control(type, argumentChecks.toolCallId(toolCallId))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  #control(type: CallCommand["type"], toolCallId?: string): Promise<void> {
    return controlCalls(this.id, this.#chat.pid, this.#chat.state, type, toolCallId)
  }

  cancelToolCalls(): Promise<void> {
    return this.#control("calls.cancel")
  }

  restartToolCall(toolCallId: string): Promise<void> {
    return this.#controlOne("calls.restart", toolCallId)
  }

  async tasks(): Promise<ReadonlyArray<ShownTask>> {
    return this.#tasks.list(this.id)
  }

  async awaitTask(task: string): Promise<TaskEnd> {
    return this.#tasks.result(this.id, argumentChecks.task(task))
  }

  /**
   * Resolves with the turn that the end of a background task begins, or joins, when the chat has that end.
   *
   * **Errors**: as for `awaitTask`. The result of the turn rejects with a `SessionError` (`already_delivered`) when the turn was over before.
   */
  async taskTurn(task: string): Promise<LiveTurn> {
    const input = await this.#tasks.reported(this.id, argumentChecks.task(task))
    return this.#known(input) ?? this.#refused(unknownTurn(this.id, input))
  }

  async cancelTask(task: string): Promise<void> {
    await this.#tasks.cancel(this.id, argumentChecks.task(task))
  }

  setPermissionMode(given: Mode, options?: SetModeOptions): Promise<void> {
    const { mode, within } = argumentChecks.mode(given, options)
    return this.#chat.setPermissionMode(mode, within)
  }

  async handoff(agent: string): Promise<void> {
    argumentChecks.agent(agent)
    await this.#chat.handOff(agent)
  }

  /**
   * Calls the observer with every new snapshot; updates from streaming text are batched for a short time. The observer
   * stays subscribed across restarts. When the chat is stopped during a turn, the last snapshot is `ended` with the status
   * `stopped`; then `complete` is called. When the chat leaves, the phase of the last snapshot is `moved`.
   *
   * **Errors**: throws a `ValidationError` (`invalid_options`) for an argument that is neither a function nor an observer.
   */
  subscribe(observer: SnapshotObserver | ((snapshot: ChatSnapshot) => void)): { readonly unsubscribe: () => void } {
    if (typeof observer !== "function" && !isRecord(observer)) {
      throw refusedArgument(["observer"], "must_be_a_function, or an observer with next, error or complete")
    }
    this.#chat.wake()
    return this.#chat.view.subscribe(typeof observer === "function" ? { next: observer } : observer)
  }

  /** Goes on from the newest entry, if another program of the store has written it and no turn runs. */
  look(): Promise<void> {
    return this.#chat.ends.look()
  }

  async view(): Promise<ChatView.ChatView> {
    await this.look()
    return ChatView.of(this.id, this.#chat.view.snapshot())
  }

  /** The present snapshot; while the chat has no process, the last one. */
  getSnapshot(): ChatSnapshot | undefined {
    return this.#chat.view.snapshot()
  }

  /** The small object that is printed for a chat. */
  [inspected](_depth: number, options: object, inspect: Inspect): string {
    return printed("LocalChatRef", this.toJSON(), options, inspect)
  }

  /** The JSON form of a chat. */
  toJSON(): Readonly<Record<"id" | "process" | "phase" | "messages", unknown>> {
    const { id, pid, thread } = this
    return { id, process: pid?.toString(), phase: this.getSnapshot()?.context.phase, messages: thread.messages.length }
  }

  /**
   * Ends the chat in this program, so that another start continues it: here with `troupe.chat(id)`, or in another program
   * with the same store.
   *
   * **Details**: the text of a reply that streams is stored, and a running turn is `interrupted` in the next start. Waiting
   * inputs stay stored, and their receipts are `pending`. Each reader of events or of a turn reads what is left, and then
   * fails with a `SessionError` of the reason `moved`. Observers get a last snapshot of the phase `moved`. The clients of a
   * server connect again. Resolves when the process has ended and the store has everything; no reader delays this.
   *
   * @example
   * ```ts import.meta.vitest
   * import { Fake, Troupe } from "@troupe/chat"
   * import { Store } from "@troupe/chat/store"
   *
   * const adapter = Fake.make({ script: [{ text: "Once upon" }, { hang: true }] })
   * const troupe = await Troupe.start({ adapter, store: Store.memory() })
   * const chat = await troupe.chat("c1")
   * for await (const event of chat.send("Tell me a story")) if (event.type === "text_delta") break
   * await chat.leave()
   * const again = await troupe.chat("c1")
   * const { phase, partial } = await again.view()
   * phase // => "interrupted"
   * partial.text // => "Once upon"
   * await troupe.stop()
   * ```
   */
  leave(): Promise<void> {
    return this.#chat.leave()
  }

  stop(): Promise<void> {
    return this.#chat.stop()
  }
}

/**
 * The error of a decision about a call that the running turn neither has nor waits with; `undefined` for another decision (DEC5). What a
 * sub-agent waits for is known when its call waits.
 */
const unlistedCall = (
  { turn, result, thread, open, pendingApprovals, toolCalls }: ChatSnapshot["context"],
  toolCallId: string
): SessionError | undefined => {
  if (turn === undefined || result !== undefined || isChildId(toolCallId)) return undefined
  const listed = pendingApprovals.map(({ toolCall }) => toolCall.id)
  if ([...listed, ...toolCalls.map(({ id }) => id)].includes(toolCallId)) return undefined
  return undecidedCall(toolCallId, listed, decidedBefore({ thread, open }, { toolCallId }))
}

const busy = (id: string): SessionError =>
  new SessionError("busy", `A turn runs or waits in the chat ${id}; wait for it, or send with another whenBusy`)

/** Returns the turn of a known id; throws if all the digests are those of other content (ARR5). */
const sameTurn = (known: LiveTurn, context: ChatContext | undefined, digests: ReadonlyArray<string>): LiveTurn => {
  const { messages, digest: own } = known.turn
  const [said] = messages
  const found = own ?? (said && contentDigest(said))
  const isOther = (digest: string): boolean =>
    found === undefined ? context !== undefined && hasOther(context.record, known.id, digest) : found !== digest
  if (digests.every(isOther)) throw refusedArgument(["id"], "names_another_input")
  return known
}
