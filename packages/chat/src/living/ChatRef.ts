/**
 * The address of a living chat: it outlives the chat's process.
 *
 * Owns: nothing; it is the face of what the Troupe keeps of a chat. Does not own the process, which its supervisor restarts,
 * nor the thread, which the store keeps.
 *
 * REF3. Observers stay across restarts.
 *
 * @module
 */
import type { Pid } from "@troupe/otp"
import * as Equal from "effect/Equal"
import type { Attachment, AttachOptions, ChatPhase, ChatSnapshot, SnapshotObserver } from "../view/index.ts"
import type { Decision, Mode, SendOptions, WhenBusy } from "../record/index.ts"
import { isRecord, SessionError, unknownOption, ValidationError } from "../errors/index.ts"
import { Delivery, unknownToolCall, withoutResults } from "../inbox/index.ts"
import { checkedDecision } from "../step/index.ts"
import { type Inspect, inspected, printed } from "../json/index.ts"
import type { LiveChat } from "./liveChat.ts"
import type { LiveTurn } from "./liveTurn.ts"
import { checkedMode } from "../gate/index.ts"
import { submittedContent } from "../tool/index.ts"
import { type Message, type Thread, type UserInput, userMessage } from "../model/index.ts"
import * as Threads from "../model/Thread.ts"

export type {
  Attached,
  Attachment,
  AttachOptions,
  ChatPhase,
  ChatSnapshot,
  Cursor,
  LiveContext,
  SnapshotObserver,
  WhenSlow
} from "../view/index.ts"
export type { ToolCallView } from "../call/index.ts"
export type { LiveTurn } from "./liveTurn.ts"
export type { UserInput } from "../model/index.ts"

/**
 * For whom a permission mode is set.
 *
 * **Units and defaults**: without `within` the host sets the mode, any it likes. With it a client does, and may set none that is
 * looser: than a mode, or than the one that the host set last (`"host"`), which stays known. A client may always set one that is
 * stricter than the present mode.
 */
export interface SetModeOptions {
  readonly within?: Mode | "host" | undefined
}

/** A chat: send to it, watch it, cancel it. */
export class ChatRef {
  readonly id: string
  readonly #chat: LiveChat

  /** The Troupe makes it. */
  constructor(chat: LiveChat) {
    this.id = chat.id
    this.#chat = chat
  }

  /** The chat's process; `undefined` while there is none. */
  get pid(): Pid | undefined {
    return this.#chat.pid
  }

  /** The thread as last committed or extended. */
  get thread(): Thread {
    return this.#chat.context?.thread ?? Threads.empty
  }

  /**
   * Says something, and runs steps until the chat waits for the user again.
   *
   * **Details**: a chat at rest takes it at once; what happens while a turn runs is `whenBusy`'s to say. The turn is the
   * events, to be read or not, `result()`, and the input's `receipt`. Leaving the loop detaches, it does not cancel. If a
   * tool asked a question, this answers it. Inputs that an earlier life of the chat left are run first; after it, if it
   * interrupts.
   *
   * **Errors**: throws a `ValidationError` for what is no message (`invalid_message`) and for options it does not know
   * (`invalid_options`), and for an `id` that names an input of other content. Reading, and `result()`, fail with a `SessionError`: `awaiting_tool_results` when tool results must
   * come first, `busy` as chosen, `inbox_full` when too many inputs wait (`maxWaitingInputs`, `maxWaitingBytes`), `already_delivered` for an id whose turn is over, `store_failed` when the input had to wait
   * and could not be stored, `chat_died` when the process died in the middle, `chat_stopped` after `stop`.
   *
   * @example
   * ```ts import.meta.vitest
   * import { Fake, Troupe } from "@troupe/chat"
   *
   * const adapter = Fake.make({ scripts: [[{ text: "Once upon" }, { hang: true }], [{ text: "Two." }, { finish: "stop" }]] })
   * const troupe = await Troupe.start({ adapter })
   * const chat = await troupe.chat("c1")
   * const story = chat.send("Tell me a story")
   * await story.receipt // => { status: "delivered" }
   * const sum = chat.send("No: one and one?", { whenBusy: "interrupt" })
   * const told = await story.result()
   * told.haltedReason // => "cancelled"
   * const answered = await sum.result()
   * answered.finalResponse?.outputText // => "Two."
   * await troupe.stop()
   * ```
   */
  send(input: UserInput, options: SendOptions = {}): LiveTurn {
    const { whenBusy = "queue", id } = checked(options)
    const message = userMessage(input)
    const known = id === undefined ? undefined : this.#chat.known(id)
    if (known !== undefined) return sameInput(known, message)
    const named = id !== undefined
    const inputId = id ?? this.#chat.newId()
    if (whenBusy === "reject" && this.#chat.isBusy) {
      this.#chat.release()
      return this.#chat.refused(busy(this.id), new Delivery("queue", inputId, named))
    }
    const delivery = new Delivery(whenBusy === "reject" ? "queue" : whenBusy, inputId, named)
    if (whenBusy !== "interrupt") this.#chat.release()
    const full = this.#chat.refusal(message)
    if (full !== undefined) return this.#chat.refused(full, delivery)
    const turn = this.#chat.start([message], { delivery })
    if (whenBusy === "interrupt") this.#chat.release()
    return turn
  }

  /**
   * Runs the last question again, from the last committed step: after a crash, an error, a cancel, or for another answer.
   * A question that could not be stored is said again.
   *
   * **Errors**: as for {@link send}; throws a `SessionError` (`nothing_to_retry`) when nothing was said yet.
   */
  retry(): LiveTurn {
    const unstored = this.#chat.context?.unstored
    if (this.thread.messages.length === 0 && unstored === undefined) {
      throw new SessionError("nothing_to_retry", `Nothing was said yet in the chat ${this.id}; use send`)
    }
    const turn = this.#chat.start([], { retry: true })
    this.#chat.release(unstored?.delivery?.id)
    return turn
  }

  /**
   * Has the inputs run that an earlier life of the chat left: they were accepted, and the program ended, the chat was
   * stopped or its store failed before their turn came. They run by themselves with the next `send` or `retry`.
   *
   * **Details**: gives their turns, in order; none where nothing is left. `inbox` of the snapshot shows them.
   */
  resume(): ReadonlyArray<LiveTurn> {
    return this.#chat.release()
  }

  /**
   * Answers the calls the chat waits for, all of them, by call id, and goes on.
   *
   * **Details**: the results stand behind their message in the order of its calls, however they are given.
   *
   * **Errors**: throws a `SessionError` (`unknown_tool_call_id`) for a call the chat does not wait for, a `ToolError`
   * for a result that has no JSON form (`encoding_failed`) or exceeds `maxToolResultCharacters` (`result_too_large`), a `ValidationError` (`invalid_options`) for what is no object of
   * results. Reading, and `result()`, fail with a `SessionError`: `awaiting_tool_results` while some are missing,
   * `invalid_status_for_operation` when the chat waits for none.
   */
  submitToolResults(results: Readonly<Record<string, unknown>>): LiveTurn {
    if (!isRecord(results)) throw refused([], "must_be_an_object of results by the id of their call")
    const pending = new Set(this.#chat.context?.pendingToolCalls.map((call) => call.id))
    const unknown = Object.keys(results).find((id) => !pending.has(id))
    if (unknown !== undefined) throw unknownToolCall(unknown, pending)
    const { maxToolResultCharacters } = this.#chat
    const messages = [...pending].flatMap((toolCallId): ReadonlyArray<Message> =>
      Object.hasOwn(results, toolCallId)
        ? [
            {
              role: "tool",
              toolCallId,
              content: submittedContent(toolCallId, results[toolCallId], maxToolResultCharacters)
            }
          ]
        : []
    )
    if (messages.length === 0) {
      return this.#chat.refused(withoutResults(this.#chat.context), new Delivery("queue", this.#chat.newId(), false))
    }
    return this.#chat.start(messages)
  }

  /**
   * Follows what the chat says, from here on or from a cursor: over turns, and over restarts of its process, until the
   * reader leaves or the chat is stopped.
   *
   * **Details**: any number may be attached; each reads at its own pace, and none slows the chat or has it keep more than its
   * log. Leaving the loop detaches and ends nothing; {@link cancel} ends the turn. A `snapshot` stands in the place of all
   * before it.
   *
   * **Errors**: throws a `ValidationError` (`invalid_options`) for options it does not know and a cursor that is none. Reading
   * fails with a `SessionError` (`chat_stopped`) when the chat had been stopped before.
   *
   * @example
   * ```ts import.meta.vitest
   * import { Fake, Troupe } from "@troupe/chat"
   *
   * const adapter = Fake.make({ script: [{ text: "Once " }, { text: "upon" }, { hang: true }] })
   * const troupe = await Troupe.start({ adapter })
   * const chat = await troupe.chat("c1")
   * chat.send("Tell me a story")
   *
   * let cursor: string | undefined
   * for await (const item of chat.attach()) {
   *   cursor = item.cursor
   *   if (item.type === "event" && item.event.type === "text_delta") break
   * }
   * chat.getSnapshot()?.context.phase // => "streaming"
   *
   * const again = chat.attach({ cursor })
   * await chat.cancel()
   * const next = await again.next()
   * next.value?.type // => "event"
   * await troupe.stop()
   * ```
   */
  attach(options: AttachOptions = {}): Attachment {
    const attached = this.#chat.feed.attach(this.id, options)
    this.#chat.wake()
    return attached
  }

  /**
   * Decides about a call that waits for that, and goes on when it was the last: what was allowed runs, the model reads of
   * the others why not.
   *
   * **Details**: `pendingApprovals` of the snapshot, and of the result of a turn that ended with `awaiting_approval`, are the
   * calls that wait. Each decision is a turn: the last one's has the events of the calls and of what follows; while others
   * wait still it ends at once, with `awaiting_approval` again. A decision is kept once its turn's `receipt` says
   * `delivered`: no restart loses it. Of two calls of one id the first that waits is meant.
   *
   * **Errors**: throws a `ValidationError` (`invalid_options`) for what is no decision, or one that cannot work: a member that
   * is none, a `result` without a `value` that JSON can say, arguments that do not fit the tool; the call waits still. Reading, and `result()`, fail as for
   * {@link send}, and with a `SessionError` (`unknown_tool_call_id`) for a call that does not wait, or no longer.
   */
  approve(toolCallId: string, decision: Decision): LiveTurn {
    return this.#chat.start([], {
      decisions: [{ toolCallId, decision: checkedDecision(decision, toolCallId, this.#chat.context) }]
    })
  }

  /**
   * Cancels the running turn; turns sent after it still run, and inputs that were to steer it become turns of their own.
   *
   * **Details**: resolves when it is over, within the drain deadline (`drainMs`) whatever its tools do: its events end with
   * `chat_completed`, `haltedReason: "cancelled"`. Every call has its result in the thread, and what was said is kept.
   * A store that hangs has the same time again, before the turn and at its end. Without a running turn it does nothing.
   */
  cancel(): Promise<void> {
    return this.#chat.cancel()
  }

  /**
   * Cancels one tool call. Its siblings are untouched and the turn goes on: the model reads that the call was cancelled.
   *
   * **Details**: resolves when the call is over, within the drain deadline (`drainMs`) whatever its handler does; what that
   * returns in time counts. Of several calls of that id all that are not over are cancelled.
   *
   * **Errors**: rejects with a `SessionError` (`tool_call_not_running`) when no such call runs or waits for its turn, with a
   * `ValidationError` (`invalid_options`) for what is no id.
   */
  cancelToolCall(toolCallId: string): Promise<void> {
    return isId(toolCallId) ? this.#chat.control("calls.cancel", toolCallId) : Promise.reject(notAnId())
  }

  /** Cancels all tool calls of the running batch, as {@link cancelToolCall} does; the turn goes on. Without any it does nothing. */
  cancelToolCalls(): Promise<void> {
    return this.#chat.control("calls.cancel")
  }

  /**
   * Runs a tool call again from its beginning. Its siblings are untouched.
   *
   * **Details**: the handler is told to end and waited for until the drain deadline; then it is run again with the same
   * arguments, the same `idempotencyKey`, and deadlines that count anew. What the former run comes to no longer counts, and what
   * it has done stays done: a tool that writes must know its key, or be safe to repeat. Resolves when the new run has begun,
   * or the call has ended otherwise.
   *
   * **Errors**: rejects with a `SessionError` (`tool_call_not_running`) when no such call runs, or it is to end already, with
   * a `ValidationError` (`invalid_options`) for what is no id.
   */
  restartToolCall(toolCallId: string): Promise<void> {
    return isId(toolCallId) ? this.#chat.control("calls.restart", toolCallId) : Promise.reject(notAnId())
  }

  /**
   * Sets the permission mode that calls are judged by, from the next batch on, also of the turn that runs: over turns and
   * restarts, until it is set again, or a tool's call sets another (`ToolContext.setPermissionMode`).
   *
   * **Details**: takes the place of the `mode` of the Troupe's permissions for this chat, and is the loosest that calls may set
   * unasked. Resolves when it counts; of a chat at rest, when it is stored. A program that sets it for a client gives `within`.
   *
   * **Errors**: throws a `ValidationError` (`invalid_options`) for what is no mode. Rejects with a `SessionError`: `mode_refused`,
   * when the mode is looser than `within` allows, and nothing changes; `store_failed`,
   * when it counts and is not stored; `chat_died` when the process died before; `chat_stopped` after `stop`.
   *
   * @example
   * ```ts import.meta.vitest
   * import { Fake, Troupe } from "@troupe/chat"
   *
   * const troupe = await Troupe.start({ adapter: Fake.make({ script: [] }) })
   * const chat = await troupe.chat("c1")
   * await chat.setPermissionMode("plan")
   * chat.getSnapshot()?.context.permissionMode // => "plan"
   * await troupe.stop()
   * ```
   */
  setPermissionMode(mode: Mode, { within }: SetModeOptions = {}): Promise<void> {
    const bound = within === undefined || within === "host" ? within : checkedMode(within)
    return this.#chat.setPermissionMode(checkedMode(mode), bound)
  }

  /**
   * Told of every new snapshot; text that streams is gathered for a moment. The observer stays across restarts. When the chat
   * is stopped in a turn, the last snapshot is `ended`, with the status `stopped`; `complete` is told then.
   *
   * **Errors**: throws a `ValidationError` (`invalid_options`) for what is neither a function nor an observer.
   */
  subscribe(observer: SnapshotObserver | ((snapshot: ChatSnapshot) => void)): { readonly unsubscribe: () => void } {
    if (typeof observer !== "function" && !isRecord(observer)) {
      throw refused(["observer"], "must_be_a_function, or an observer with next, error or complete")
    }
    this.#chat.wake()
    return this.#chat.view.subscribe(typeof observer === "function" ? { next: observer } : observer)
  }

  /** The present snapshot; of a chat between two processes, the last one. */
  getSnapshot(): ChatSnapshot | undefined {
    return this.#chat.view.snapshot()
  }

  /** A printed chat is a small object (SHOWN1). */
  [inspected](_depth: number, options: object, inspect: Inspect): string {
    return printed("ChatRef", this.toJSON(), options, inspect)
  }

  /** What the JSON text of a chat holds (SHOWN2). */
  toJSON(): {
    readonly id: string
    readonly process: string | undefined
    readonly phase: ChatPhase | undefined
    readonly messages: number
  } {
    const { id, pid, thread } = this
    const phase = this.#chat.view.snapshot()?.context.phase
    return { id, process: pid?.toString(), phase, messages: thread.messages.length }
  }

  /** Ends the chat's process; what was committed is kept, inputs that wait too. `troupe.chat(id)` starts it again. */
  stop(): Promise<void> {
    return this.#chat.stop()
  }
}

const busy = (id: string): SessionError =>
  new SessionError("busy", `A turn runs or waits in the chat ${id}; wait for it, or send with another whenBusy`)

/** The input an id names; what it said, if that is still known, is said again. */
const sameInput = (known: LiveTurn, message: Message): LiveTurn => {
  const [said] = known.turn.messages
  if (said === undefined || Equal.equals(said, message)) return known
  throw refused(["id"], "names_another_input")
}

const ways: ReadonlyArray<WhenBusy> = ["queue", "steer", "interrupt", "reject"]

const refused = (field: ReadonlyArray<string>, reason: string): ValidationError =>
  new ValidationError("invalid_options", [{ field, reason }])

/** Without an id, all calls would be meant. */
const isId = (toolCallId: unknown): boolean => typeof toolCallId === "string" && toolCallId !== ""

const notAnId = (): ValidationError => refused(["toolCallId"], "must_be_a_non_empty_string")

const checked = (options: SendOptions): SendOptions => {
  const given: unknown = options
  if (!isRecord(given)) throw refused([], "must_be_an_object of options")
  const { whenBusy, id, ...others } = options
  const found = Object.keys(others).map((field) => ({
    field: [field],
    reason: unknownOption(field, ["whenBusy", "id"])
  }))
  if (whenBusy !== undefined && !ways.includes(whenBusy)) {
    found.push({ field: ["whenBusy"], reason: `must_be_one_of ${ways.join(", ")}` })
  }
  if (id !== undefined && (typeof id !== "string" || id === "")) {
    found.push({ field: ["id"], reason: "must_be_a_non_empty_string" })
  }
  if (found.length > 0) throw new ValidationError("invalid_options", found)
  return options
}
