/**
 * A chat, wherever it runs: send to it, watch it, cancel it.
 *
 * Owns: nothing; it is an address. Does not own the chat's process nor the thread, which the store keeps. The address stays
 * valid when the process ends.
 *
 * REF3. Observers stay subscribed across restarts.
 * REF6. Every member of `ChatRef` can be offered for a chat of another machine: it takes and returns data, promises, turns
 *       and readers. A member that returns the chat's present state at once, or its process, is on `LocalChatRef` only.
 *
 * @module
 */
import type { Channel } from "@troupe/otp"
import type { AttachOptions, ChatItem, ShownTask } from "../view/index.ts"
import type { ChatResult, Decision, Mode, Receipt, SendOptions, TaskEnd, UserInput } from "../record/index.ts"
import type { AnswerOptions, Answers } from "../inbox/index.ts"
import type * as ChatView from "../view/ChatView.ts"
import type { Event } from "../events/index.ts"
import type { Parameters } from "../tool/index.ts"

/** Whether the host or a client sets a permission mode. */
export interface SetModeOptions {
  /**
   * The loosest mode that a client may set; a looser one is refused. `"host"` is the mode that the host set last. A client may
   * always set a mode stricter than the present one. Default: the host sets the mode, and every mode is allowed.
   */
  readonly within?: Mode | "host" | undefined
}

/**
 * What a cancel ends.
 *
 * **Details**: an input that steered a turn names that turn. A retry has the inputs that it answers.
 */
export interface CancelOptions {
  /** The turn, or the id of its input. Default: the turn that runs or, before it runs, the next one. */
  readonly turn?: string | { readonly id: string } | undefined
  /**
   * Whether the background tasks of the chat are cancelled too. Their ends wait in the inbox, and join the turn of the next
   * input, or the running turn if `turn` names one that waits. Default: `false`.
   */
  readonly tasks?: boolean | undefined
}

/** How an input is sent, and which form its answer has. */
export interface AskOptions<A> extends SendOptions {
  /**
   * The schema of the answer: a zod schema, any Standard Schema, or a JSON Schema object. Default: the `responseFormat` of the
   * Troupe, which it precedes.
   *
   * **Details**: it is stored with the input, so that an input that waits or is retried has it too. Inputs that steer the turn,
   * and the answer to a question, keep the schema of the turn unless they have their own.
   */
  readonly schema?: Parameters<A> | undefined
}

/**
 * A turn of a chat, as its sender sees it: the receipt of the input, the events, and the result.
 *
 * **Details**: reading the events is optional. Leaving the loop detaches, and does not cancel the turn. `status`, `over` and
 * `failure` are what is known so far in this program.
 */
export interface ChatTurn<A = unknown> extends Channel.Reader<Event> {
  /** The input's id, from the sender or generated. */
  readonly id: string
  /** The delivery of the input: `sent` without a receipt yet, or the status of the receipt. */
  readonly status: "sent" | Receipt["status"]
  /** Resolves with the first receipt: delivered, pending or rejected. Never rejects. */
  readonly receipt: Promise<Receipt>
  /** Resolves with the final receipt; with a pending one if the chat was stopped or left before. Never rejects. */
  readonly delivery: Promise<Receipt>
  /** Whether the turn is over. */
  readonly over: boolean
  /** Resolves when the turn is over, also when it failed. Never rejects. */
  readonly ended: Promise<void>
  /** The error of a failed turn. */
  readonly failure: { readonly error: unknown } | undefined
  /** Resolves with the result of the turn. Rejects with the error that ended the turn. */
  readonly result: () => Promise<ChatResult>
  /**
   * Resolves with the final answer, by the `schema` that the input was sent with. Rejects as `result` and
   * `StructuredOutput.parse` do.
   */
  readonly object: () => Promise<A>
}

/**
 * A chat: send to it, watch it, cancel it.
 *
 * **Details**: `troupe.chat(id)` returns the `LocalChatRef` of a chat of this program.
 *
 * **Errors**: the functions that return a turn throw for invalid arguments. A local chat also throws at once where this
 * page says so about its state. A chat of another machine reports such an error through the turn.
 */
export interface ChatRef {
  /** The id of the conversation. */
  readonly id: string

  /**
   * Sends an input, and runs steps until the chat waits for the user again.
   *
   * **Details**: an idle chat starts the turn at once; while a turn runs, `whenBusy` decides. The returned turn has the
   * events (reading them is optional), `result()`, and the `receipt` of the input. Leaving the loop detaches and does not
   * cancel. If a tool asked a question, the input answers it. Inputs that were accepted before the last restart run first,
   * or after this input if it interrupts. With the `id` of an input whose turn is not over, the same turn is returned.
   *
   * **Errors**: throws a `ValidationError` for an invalid message or one of blank text (`invalid_message`), for unknown options
   * (`invalid_options`), and for an `id` that belongs to an input with other content. Reading, and `result()`, fail with a
   * `SessionError`: `awaiting_tool_results` when tool results must come first, `busy` if so chosen, `inbox_full` when too
   * many inputs wait (`maxWaitingInputs`, `maxWaitingBytes`, `maxWaitingFileBytes`), `already_delivered` for an id whose turn is over,
   * `store_failed` when the input had to wait and could not be stored, `chat_died` when the process died during the turn,
   * `chat_stopped` after `stop`, `moved` after the chat has left (`LocalChatRef.leave`).
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
  send<A = unknown>(input: UserInput, options?: AskOptions<A>): ChatTurn<A>

  /**
   * Runs the last question again, from the last committed step: after a crash, an error or a cancel, or for another answer.
   * A question that could not be stored is sent again.
   *
   * **Errors**: as for {@link send}; throws a `SessionError` (`nothing_to_retry`) when the chat has no question yet.
   */
  retry(): ChatTurn

  /**
   * Compacts the thread now, by the option `compaction`, also when no bound is near. It waits for the running turn.
   *
   * **Details**: a turn without an input, whose only request is that for a summary: it ends with the reason `completed`, and
   * `metadata.compacted` says whether requests are smaller from now on. The thread stays whole.
   *
   * **Errors**: the turn fails with a `SessionError` (`invalid_status_for_operation`) without the option `compaction`, and while the chat
   * waits, or was interrupted; also as for {@link retry}.
   *
   * @example
   * ```ts import.meta.vitest
   * import { Fake, Troupe } from "@troupe/chat"
   * import { Compaction } from "@troupe/chat/compaction"
   *
   * const compaction = Compaction.make({ maxTokens: 8_000, strategies: [Compaction.window()] })
   * const adapter = Fake.make({ respond: () => [{ text: "a word of many ".repeat(20) }, { finish: "stop" }] })
   * const troupe = await Troupe.start({ adapter, compaction })
   * const chat = await troupe.chat("c1")
   * for (const input of ["One", "Two", "Three", "Four"]) await chat.send(input).result()
   * const { metadata } = await chat.compact().result()
   * metadata["compacted"] // => true
   * chat.thread.messages.length // => 8
   * await troupe.stop()
   * ```
   */
  compact(): ChatTurn

  /**
   * Runs inputs that were accepted before the last restart: the program ended, the chat was stopped or its store failed
   * before their turn began. The next `send` or `retry` runs them too.
   *
   * **Details**: returns their turns, in order; empty if there are none. `inbox` of the snapshot lists them.
   */
  resume(): ReadonlyArray<ChatTurn> | Promise<ReadonlyArray<ChatTurn>>

  /**
   * Answers what the chat waits for, in one turn: decisions about calls, results of calls, and a message behind them.
   *
   * **Details**: the calls that are allowed run first. The next request has all results, and the message behind them. While other calls
   * still wait for a decision, the turn ends at once with `awaiting_approval` again. A message alone answers the question that the chat
   * asks. The turn goes on with its message when a decided call halts. The answers are stored, and survive restarts, once the turn's
   * `receipt` is `delivered`.
   *
   * **Errors**: when one of the answers is refused, none is used. The errors are those of {@link approve} and {@link submitToolResults}.
   * Reading, and `result()`, also fail with a `SessionError`: `awaiting_approval` or `awaiting_tool_results` for a message while a call
   * waits that the answers leave out, `no_question` for a message alone when the chat asks none, and
   * `already_delivered` for an `id` whose turn is over. Throws a `ValidationError` (`invalid_options`) for an `id` that belongs to other
   * content.
   *
   * @example
   * ```ts import.meta.vitest
   * import { Fake, tool, Troupe } from "@troupe/chat"
   * import { Tool } from "@troupe/chat/tools"
   *
   * const calls = [
   *   { toolCall: { id: "c1", name: "pay" } },
   *   { toolCall: { id: "c2", name: "sign" } },
   *   { finish: "tool_calls" }
   * ] as const
   * const adapter = Fake.make({ scripts: [calls, [{ text: "All done." }, { finish: "stop" }]] })
   * const tools = [tool({ name: "pay", execute: () => "paid" }), Tool.make({ name: "sign", manual: true })]
   * const permissions = { ask: () => "suspend" as const }
   * const troupe = await Troupe.start({ adapter, tools, permissions })
   * const chat = await troupe.chat("c1")
   * await chat.send("Pay and sign").result()
   * const turn = chat.answer({
   *   decisions: { c1: { type: "allow" } },
   *   results: { c2: "signed" },
   *   input: "Then tell me"
   * })
   * const { finalResponse } = await turn.result()
   * finalResponse?.outputText // => "All done."
   * adapter.requests.length // => 2
   * await troupe.stop()
   * ```
   */
  answer(answers: Answers, options?: AnswerOptions): ChatTurn

  /**
   * Submits the results of all calls that the chat waits for, by call id, and continues the turn: {@link answer} with `results`.
   *
   * **Details**: in the thread the results follow their message in the order of its calls, whatever the order of `results`.
   * An `Error` is a failed call, whose text the model reads.
   *
   * **Errors**: throws a `SessionError` (`unknown_tool_call_id`) for a call that the chat does not wait for, a `ToolError`
   * for a result that has no JSON form (`encoding_failed`) or exceeds `maxToolResultCharacters` (`result_too_large`), a
   * `ValidationError` (`invalid_options`) if `results` is not an object. Reading, and `result()`, fail with a
   * `SessionError`: `awaiting_tool_results` while results are missing, `invalid_status_for_operation` when the chat waits
   * for none.
   */
  submitToolResults(results: Readonly<Record<string, unknown>>): ChatTurn

  /**
   * Reads the events of the chat, from now on or from a cursor, across turns and restarts of its process, until the reader
   * leaves or the chat is stopped.
   *
   * **Details**: any number of readers may be attached. Each reads at its own pace; none slows the chat or makes it keep
   * more than its log. Leaving the loop only detaches; {@link cancel} ends the turn. A `snapshot` replaces all events
   * before it.
   *
   * **Errors**: throws a `ValidationError` (`invalid_options`) for unknown options and an invalid cursor. Reading fails
   * with a `SessionError`: `chat_stopped` when the chat was stopped before, `moved` when the chat left, after its unread
   * events. Attach again then, to the chat that `troupe.chat(id)` returns: a snapshot comes first.
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
  attach(options?: AttachOptions): Channel.Reader<ChatItem>

  /**
   * Resolves with the state of the chat as plain JSON, for a user interface.
   *
   * **Details**: the same for a chat of this program and for one of another machine. `ChatView.patch` gives the changes
   * since an earlier view.
   *
   * @example
   * ```ts import.meta.vitest
   * import { Fake, Troupe } from "@troupe/chat"
   *
   * const troupe = await Troupe.start({ adapter: Fake.make({ script: [{ text: "Hi." }, { finish: "stop" }] }) })
   * const chat = await troupe.chat("c1")
   * await chat.send("Hello").result()
   * const { phase, messages } = await chat.view()
   * phase // => "idle"
   * messages.map(({ content }) => content) // => ["Hello", "Hi."]
   * await troupe.stop()
   * ```
   */
  view(): Promise<ChatView.ChatView>

  /**
   * Decides about a call that waits for approval: {@link answer} with one decision. After the last decision the turn continues: allowed
   * calls run, and the model reads why the others did not.
   *
   * **Details**: `pendingApprovals` of the snapshot, and of the result of a turn that ended with `awaiting_approval`, lists
   * the calls that wait. Each decision is a turn. The turn of the last decision has the events of the calls and of what
   * follows; the others end at once, with `awaiting_approval` again. A decision is stored, and survives restarts, once its
   * turn's `receipt` is `delivered`. If two calls have the same id, the decision is for the first that waits. What a
   * sub-agent waits for has an address in place of the id. A `result` answers its question. The decision is for the wait that has the
   * address at this call, and for no later one.
   *
   * **Errors**: throws a `ValidationError` (`invalid_options`) for an invalid decision: an unknown member, a `result`
   * without a `value` that has a JSON form, a blank answer to a question, or arguments that do not fit the tool; a `SessionError`
   * (`unknown_tool`) to allow a call whose tool there is not, or whose sub-agent has no tool above. The call still waits then. Reading, and
   * `result()`, fail as for {@link send}, and with a `SessionError` (`unknown_tool_call_id`) for a call that does not wait,
   * or no longer waits. Of two people who decide about one call, one decision is applied. The error of the other has it as
   * `metadata.decision`, and the `metadata.outcome` of a call that is over. The decision is missing in a store without a log, and when
   * it is older than a hundred entries.
   */
  approve(toolCallId: string, decision: Decision): ChatTurn

  /**
   * Cancels the running turn, or the one that `turn` names. Turns sent after it still run; inputs that would have steered it run as turns
   * of their own.
   *
   * **Details**: resolves when the turn is over, within the drain deadline (`drainMs`) whatever its tools do. Its events
   * end with `chat_completed`, `haltedReason: "cancelled"`. Every call has its result in the thread, and the text so far is
   * kept. A store that hangs adds at most the same time before the turn and at its end. A cancel of
   * a turn that is over does nothing, and a cancel never ends another turn than the one that it is for. A named turn whose input waits
   * is withdrawn ({@link withdraw}). An id that the sender has chosen names its turn for ever; an id that the chat has chosen names it
   * until the next turn begins.
   *
   * If no turn runs and the chat waits for decisions, tool results or an answer, this ends the wait. The calls and the question are
   * `cancelled`, none of the calls runs, and inputs that wait run next.
   *
   * With `tasks` it ends everything that the last input has caused: the background tasks end `cancelled`, and no end of a task begins a
   * turn before the next input. It resolves then when their work has ended. If `turn` names a turn that waits, the ends of the tasks
   * join the running turn instead.
   *
   * **Errors**: rejects with a `ValidationError` (`invalid_options`) for unknown options, for a turn that is no id, and for the end of
   * a background task that waits; with a `SessionError`: `unknown_input` for an id of which the chat has no turn, `store_failed` when the
   * end of a wait could not be stored, `chat_stopped` or `moved` for a wait of a chat that was stopped or has left; with `tasks` also
   * as {@link setPermissionMode}.
   */
  cancel(options?: CancelOptions): Promise<void>

  /**
   * Withdraws an input that waits: for the running turn, for a decision, for tool results, for an answer, or for its release. Also
   * withdraws the turn of a decision, a retry or results that waits for the running turn.
   *
   * **Details**: resolves when the store has it no longer. `result()` of its turn rejects with a `SessionError` (`withdrawn`), and its
   * receipt is `rejected`. `inbox` of the view lists the inputs that wait.
   *
   * **Errors**: rejects with a `SessionError`: `already_delivered` when the input is in the thread, or about to be ({@link cancel} its
   * turn then); `unknown_input` when no such input waits; `store_failed` when the withdrawal could not be stored. Then the input waits
   * for its release. Rejects with a `ValidationError` (`invalid_options`) for a value that is neither a turn nor an id, and for the end of
   * a background task, which joins the next turn.
   *
   * @example
   * ```ts import.meta.vitest
   * import { Fake, Troupe } from "@troupe/chat"
   *
   * const troupe = await Troupe.start({ adapter: Fake.make({ script: [{ text: "Once" }, { hang: true }] }) })
   * const chat = await troupe.chat("c1")
   * chat.send("Tell me a story")
   * const next = chat.send("And another")
   * await chat.withdraw(next)
   * const error = await next.result().catch((error) => error)
   * error.reason // => "withdrawn"
   * await troupe.stop()
   * ```
   */
  withdraw(input: string | { readonly id: string }): Promise<void>

  /**
   * Cancels one tool call. Its siblings and the turn continue: the model reads that the call was cancelled.
   *
   * **Details**: resolves when the call is over, within the drain deadline (`drainMs`) whatever its handler does. A result
   * that the handler returns in time is used. If several running calls have that id, all are cancelled.
   *
   * **Errors**: rejects with a `SessionError` (`tool_call_not_running`) when no such call runs or is queued, or `chat_died`
   * when the process dies first, with a `ValidationError` (`invalid_options`) for an invalid id.
   */
  cancelToolCall(toolCallId: string): Promise<void>

  /**
   * Cancels all tool calls of the running batch, as {@link cancelToolCall} does; the turn continues. Does nothing without
   * calls.
   */
  cancelToolCalls(): Promise<void>

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
  restartToolCall(toolCallId: string): Promise<void>

  /**
   * Resolves with the background tasks whose end the thread does not have: those that run, and those whose end waits to join the
   * thread.
   */
  tasks(): Promise<ReadonlyArray<ShownTask>>

  /**
   * Resolves with the end of a background task: its status, and the text that the model reads. A message of the chat reports it too.
   *
   * **Errors**: rejects with a `SessionError`: `unknown_task` when neither a task nor a message of the thread has this id;
   * `chat_stopped` when the task leaves this program before its end, or its chat is deleted. Rejects with a `ValidationError`
   * (`invalid_options`) for an invalid id.
   */
  awaitTask(task: string): Promise<TaskEnd>

  /**
   * Cancels a background task. Its end is `cancelled`, unless its result came in time.
   *
   * **Details**: resolves when its work has ended, within the drain deadline (`drainMs`) whatever its handler does. A task that has
   * ended is left as it is.
   *
   * **Errors**: as for {@link awaitTask}.
   */
  cancelTask(task: string): Promise<void>

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
   * effect but not stored; `inbox_full` while more than `maxWaitingInputs` such requests wait; `chat_died` when the process died before;
   * `chat_stopped` after `stop`; `moved` after the chat has left.
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
  setPermissionMode(mode: Mode, options?: SetModeOptions): Promise<void>

  /**
   * Hands the conversation over to an agent of the Troupe: its next request is of that agent.
   *
   * **Details**: a chat at rest stores this as an entry of its log. During a turn the next request of the turn is of the agent;
   * a running request, and the calls of its reply, end with the agent before. A chat without an agent gets one.
   *
   * **Errors**: rejects with a `SessionError`: `unknown_agent` when the Troupe has no agent of this name; `store_failed`,
   * `inbox_full`, `chat_died`, `chat_stopped` and `moved` as for {@link setPermissionMode}. Rejects with a `ValidationError` for a value that
   * is no text.
   *
   * @example
   * ```ts import.meta.vitest
   * import { Fake, Troupe } from "@troupe/chat"
   *
   * const says = (text: string) => Fake.make({ script: [{ text }, { finish: "stop" }] })
   * const agents = { support: { adapter: says("Support.") }, billing: { adapter: says("Billing.") } }
   * const troupe = await Troupe.start({ agents, agent: "support" })
   * const chat = await troupe.chat("c1")
   * await chat.send("Hello").result()
   * await chat.handoff("billing")
   * await chat.send("And who are you?").result()
   * chat.thread.messages.map(({ content }) => content) // => ["Hello", "Support.", "And who are you?", "Billing."]
   * await troupe.stop()
   * ```
   */
  handoff(agent: string): Promise<void>

  /**
   * Ends the chat's process. Committed data and waiting inputs stay stored; `troupe.chat(id)` starts the chat again. Its background tasks go
   * on, and their end starts the chat again.
   */
  stop(): Promise<void>
}
