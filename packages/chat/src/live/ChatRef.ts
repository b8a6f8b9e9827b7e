/**
 * The address of a live chat. It stays valid when the chat's process ends.
 *
 * Owns: nothing; it is the public interface of a `LiveChat`. Does not own the process, which its supervisor restarts, nor
 * the thread, which the store keeps.
 *
 * REF3. Observers stay subscribed across restarts.
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

export type { Attached, Attachment, AttachOptions, ChatPhase, ChatSnapshot, SnapshotObserver } from "../view/index.ts"
export type { ToolCallView } from "../call/index.ts"
export type { LiveTurn } from "./liveTurn.ts"
export type { UserInput } from "../model/index.ts"

/**
 * Whether the host or a client sets a permission mode.
 *
 * **Units and defaults**: without `within` the host sets the mode, and every mode is allowed. With `within` a client sets
 * it: a mode looser than `within` is refused. `"host"` is the mode that the host set last. A client may always set a mode
 * stricter than the present one.
 */
export interface SetModeOptions {
  readonly within?: Mode | "host" | undefined
}

/** A chat: send to it, watch it, cancel it. */
export class ChatRef {
  readonly id: string
  readonly #chat: LiveChat

  /** Created by the Troupe. */
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
   * Sends an input, and runs steps until the chat waits for the user again.
   *
   * **Details**: an idle chat starts the turn at once; while a turn runs, `whenBusy` decides. The returned turn has the
   * events (reading them is optional), `result()`, and the `receipt` of the input. Leaving the loop detaches and does not
   * cancel. If a tool asked a question, the input answers it. Inputs that were accepted before the last restart run first,
   * or after this input if it interrupts.
   *
   * **Errors**: throws a `ValidationError` for an invalid message (`invalid_message`), for unknown options
   * (`invalid_options`), and for an `id` that belongs to an input with other content. Reading, and `result()`, fail with a
   * `SessionError`: `awaiting_tool_results` when tool results must come first, `busy` if so chosen, `inbox_full` when too
   * many inputs wait (`maxWaitingInputs`, `maxWaitingBytes`), `already_delivered` for an id whose turn is over,
   * `store_failed` when the input could not be stored, `chat_died` when the process died during the turn,
   * `chat_stopped` after `stop`.
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
   * const cancelled = await story.result()
   * cancelled.haltedReason // => "cancelled"
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
   * Runs the last question again, from the last committed step: after a crash, an error or a cancel, or for another answer.
   * A question that could not be stored is sent again.
   *
   * **Errors**: as for {@link send}; throws a `SessionError` (`nothing_to_retry`) when the chat has no question yet.
   */
  retry(): LiveTurn {
    return this.#chat.retry()
  }

  /**
   * Runs inputs that were accepted before the last restart: the program ended, the chat was stopped or its store failed
   * before their turn began. The next `send` or `retry` runs them too.
   *
   * **Details**: returns their turns, in order; empty if there are none. `inbox` of the snapshot lists them.
   */
  resume(): ReadonlyArray<LiveTurn> {
    return this.#chat.release()
  }

  /**
   * Submits the results of all calls that the chat waits for, by call id, and continues the turn.
   *
   * **Details**: in the thread the results follow their message in the order of its calls, whatever the order of `results`.
   *
   * **Errors**: throws a `SessionError` (`unknown_tool_call_id`) for a call that the chat does not wait for, a `ToolError`
   * for a result that has no JSON form (`encoding_failed`) or exceeds `maxToolResultCharacters` (`result_too_large`), a
   * `ValidationError` (`invalid_options`) if `results` is not an object. Reading, and `result()`, fail with a
   * `SessionError`: `awaiting_tool_results` while results are missing, `invalid_status_for_operation` when the chat waits
   * for none.
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
   * Reads the events of the chat, from now on or from a cursor, across turns and restarts of its process, until the reader
   * leaves or the chat is stopped.
   *
   * **Details**: any number of readers may be attached. Each reads at its own pace; none slows the chat or makes it keep
   * more than its log. Leaving the loop only detaches; {@link cancel} ends the turn. A `snapshot` replaces all events
   * before it.
   *
   * **Errors**: throws a `ValidationError` (`invalid_options`) for unknown options and an invalid cursor. Reading fails
   * with a `SessionError` (`chat_stopped`) when the chat was stopped before.
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
   * Decides about a call that waits for approval. After the last decision the turn continues: allowed calls run, and the
   * model reads why the others did not.
   *
   * **Details**: `pendingApprovals` of the snapshot, and of the result of a turn that ended with `awaiting_approval`, lists
   * the calls that wait. Each decision is a turn. The turn of the last decision has the events of the calls and of what
   * follows; the others end at once, with `awaiting_approval` again. A decision is stored, and survives restarts, once its
   * turn's `receipt` is `delivered`. If two calls have the same id, the decision is for the first that waits.
   *
   * **Errors**: throws a `ValidationError` (`invalid_options`) for an invalid decision: an unknown member, a `result`
   * without a `value` that has a JSON form, or arguments that do not fit the tool. The call still waits then. Reading, and
   * `result()`, fail as for {@link send}, and with a `SessionError` (`unknown_tool_call_id`) for a call that does not wait,
   * or no longer waits.
   */
  approve(toolCallId: string, decision: Decision): LiveTurn {
    return this.#chat.start([], {
      decisions: [{ toolCallId, decision: checkedDecision(decision, toolCallId, this.#chat.view.snapshot()?.context) }]
    })
  }

  /**
   * Cancels the running turn. Turns sent after it still run; inputs that would have steered it run as turns of their own.
   *
   * **Details**: resolves when the turn is over, within the drain deadline (`drainMs`) whatever its tools do. Its events
   * end with `chat_completed`, `haltedReason: "cancelled"`. Every call has its result in the thread, and the text so far is
   * kept. A store that hangs adds at most the same time before the turn and at its end. Without a running turn this does
   * nothing.
   */
  cancel(): Promise<void> {
    return this.#chat.cancel()
  }

  /**
   * Cancels one tool call. Its siblings and the turn continue: the model reads that the call was cancelled.
   *
   * **Details**: resolves when the call is over, within the drain deadline (`drainMs`) whatever its handler does. A result
   * that the handler returns in time is used. If several running calls have that id, all are cancelled.
   *
   * **Errors**: rejects with a `SessionError` (`tool_call_not_running`) when no such call runs or is queued, with a
   * `ValidationError` (`invalid_options`) for an invalid id.
   */
  cancelToolCall(toolCallId: string): Promise<void> {
    return isId(toolCallId) ? this.#chat.control("calls.cancel", toolCallId) : Promise.reject(notAnId())
  }

  /**
   * Cancels all tool calls of the running batch, as {@link cancelToolCall} does; the turn continues. Does nothing without
   * calls.
   */
  cancelToolCalls(): Promise<void> {
    return this.#chat.control("calls.cancel")
  }

  /**
   * Runs a tool call again from its beginning. Its siblings continue.
   *
   * **Details**: aborts the handler and waits for it until the drain deadline. Then the handler runs again with the same
   * arguments, the same `idempotencyKey` and fresh deadlines. The result of the former run is discarded, but its side
   * effects stay: a tool that writes must use its key, or be safe to repeat. Resolves when the new run has begun, or the
   * call has ended otherwise.
   *
   * **Errors**: rejects with a `SessionError` (`tool_call_not_running`) when no such call runs or it is already being
   * cancelled, with a `ValidationError` (`invalid_options`) for an invalid id.
   */
  restartToolCall(toolCallId: string): Promise<void> {
    return isId(toolCallId) ? this.#chat.control("calls.restart", toolCallId) : Promise.reject(notAnId())
  }

  /**
   * Sets the permission mode of calls from the next batch on, in the running turn too. It stays set across turns and
   * restarts, until it is set again or a tool call sets another mode (`ToolContext.setPermissionMode`).
   *
   * **Details**: replaces the `mode` of the Troupe's permissions for this chat, and is the loosest mode that calls may set
   * without approval. Resolves when the mode is in effect; in a chat at rest, when it is stored. A program that sets the
   * mode for a client passes `within`.
   *
   * **Errors**: throws a `ValidationError` (`invalid_options`) for an unknown mode. Rejects with a `SessionError`:
   * `mode_refused` when the mode is looser than `within` allows, and nothing changes; `store_failed` when the mode is in
   * effect but not stored; `chat_died` when the process died before; `chat_stopped` after `stop`.
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
   * Calls the observer with every new snapshot; updates from streaming text are batched for a short time. The observer
   * stays subscribed across restarts. When the chat is stopped during a turn, the last snapshot is `ended` with the status
   * `stopped`; then `complete` is called.
   *
   * **Errors**: throws a `ValidationError` (`invalid_options`) for an argument that is neither a function nor an observer.
   */
  subscribe(observer: SnapshotObserver | ((snapshot: ChatSnapshot) => void)): { readonly unsubscribe: () => void } {
    if (typeof observer !== "function" && !isRecord(observer)) {
      throw refused(["observer"], "must_be_a_function, or an observer with next, error or complete")
    }
    this.#chat.wake()
    return this.#chat.view.subscribe(typeof observer === "function" ? { next: observer } : observer)
  }

  /** The present snapshot; while the chat has no process, the last one. */
  getSnapshot(): ChatSnapshot | undefined {
    return this.#chat.view.snapshot()
  }

  /** The small object that is printed for a chat (SHOWN1). */
  [inspected](_depth: number, options: object, inspect: Inspect): string {
    return printed("ChatRef", this.toJSON(), options, inspect)
  }

  /** The JSON form of a chat (SHOWN2). */
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

  /** Ends the chat's process. Committed data and waiting inputs stay stored; `troupe.chat(id)` starts the chat again. */
  stop(): Promise<void> {
    return this.#chat.stop()
  }
}

const busy = (id: string): SessionError =>
  new SessionError("busy", `A turn runs or waits in the chat ${id}; wait for it, or send with another whenBusy`)

/** Returns the turn of a known id; throws if the known input has other content. */
const sameInput = (known: LiveTurn, message: Message): LiveTurn => {
  const [said] = known.turn.messages
  if (said === undefined || Equal.equals(said, message)) return known
  throw refused(["id"], "names_another_input")
}

const ways: ReadonlyArray<WhenBusy> = ["queue", "steer", "interrupt", "reject"]

const refused = (field: ReadonlyArray<string>, reason: string): ValidationError =>
  new ValidationError("invalid_options", [{ field, reason }])

/** Rejects a missing id, which would select all calls. */
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
