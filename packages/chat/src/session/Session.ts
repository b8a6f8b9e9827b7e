/**
 * Sessions: one turn after another of the chat's machine, on a conversation that the caller keeps.
 *
 * An operation takes a conversation and returns the next one; it never changes its input, and returns none if it fails.
 * Nothing runs between operations: a session is plain data that can be stored anywhere.
 *
 * S2. `id`, `context` and `metadata` are the caller's: no operation writes them.
 * S6. A stored session continues exactly as the one in memory.
 * S7. An operation that fails leaves its input unchanged. An operation that the status does not allow fails before
 *     anything runs.
 * S9. The input of a turn is committed before the turn runs: when the turn is left or cancelled, the input stays, and the
 *     question it answers stays open.
 *
 * @module
 * @source ALLM.Session
 */
import * as z from "zod"
import { ToolError, ValidationError } from "../errors/index.ts"
import type { ChatOptions, StepOptions } from "../options/index.ts"
import { type AnswerForm, closed, leftOut, withCallersResults } from "../step/index.ts"
import { unknownToolCall } from "../inbox/index.ts"
import { answered, type Message, messagesAdvice, type ToolMessage } from "../model/index.ts"
import type { SessionStream } from "./sessionStream.ts"
import { requireContinuable, requireLegal, requireSession } from "./sessionStatus.ts"
import { open, present, runChat, runStep } from "./sessionTurn.ts"
import { type Engine, submittedMessage } from "../tool/index.ts"
import {
  type Conversation,
  conversationSchema,
  type Decision,
  type StepResult,
  type UserInput,
  userMessage
} from "../record/index.ts"
import * as Thread from "../model/Thread.ts"
import * as Validate from "../model/Validate.ts"
import { errorText, json } from "../values/index.ts"
import { changed, type Session, blank, sessionFrom } from "./sessionState.ts"
import type { SessionTurn } from "./sessionOutcome.ts"

export type { Session } from "./sessionState.ts"
export { after } from "./sessionOutcome.ts"

export type { SessionStream } from "./sessionStream.ts"

/** The options of a turn that answers. */
interface ReplyOptions extends ChatOptions {
  /**
   * How the answer to a tool's question is stored: as a user message, or as the result of the asking call, instead of its
   * placeholder. Default `"user_message"`.
   */
  readonly answer?: AnswerForm | undefined
}

const known = z.lazy(() => conversationSchema.unwrap().unwrap().strict())

/**
 * Makes a session; without fields it is idle and empty.
 *
 * **Errors**: throws a `ValidationError` (`invalid_session`) that names each unknown or ill-typed field.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Message } from "@troupe/chat/messages"
 * import { Session } from "@troupe/chat/sessions"
 *
 * const session = Session.make({ id: "s1", thread: [Message.user("hi")] })
 * session.status // => "idle"
 * session.thread.messages.length // => 1
 * ```
 */
export const make = (
  fields: {
    readonly [Field in keyof Conversation]?:
      | (Field extends "thread" ? Thread.ThreadInput : Conversation[Field])
      | undefined
  } = {}
): Session => {
  if (!isRecord(fields)) {
    throw new ValidationError("invalid_session", [
      { field: [], reason: "must_be_an_object of fields, such as { thread }" }
    ])
  }
  const { thread = Thread.empty, ...given } = fields
  const conversation = {
    ...blank,
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    thread: Thread.from(thread)
  }
  const { success, error } = known.safeParse(conversation)
  if (success)
    return { ...conversation, status: given.status ?? sessionFrom({ ...conversation, status: undefined }).status }
  throw new ValidationError(
    "invalid_session",
    error.issues.map(({ path, message }) => ({
      field: path.map((step) => (typeof step === "number" ? step : String(step))),
      reason: message
    }))
  )
}

/**
 * The session with these messages at its end; the status stays.
 *
 * **Errors**: throws a `ValidationError` (`invalid_message`) for an invalid message.
 */
export const append = (session: Conversation, ...added: ReadonlyArray<Message>): Session => {
  requireSession(session)
  for (const message of added) {
    const invalid = Validate.message(message)
    if (invalid !== undefined) throw invalid
  }
  return sessionFrom({ ...session, thread: Thread.append(session.thread, ...added) })
}

/**
 * Answers one of the pending calls; after the last one the session is idle, or awaits the user.
 *
 * **Errors**: as for {@link submitToolResults}.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Engine, Fake } from "@troupe/chat"
 * import { Message } from "@troupe/chat/messages"
 * import { Session } from "@troupe/chat/sessions"
 * import { Tool } from "@troupe/chat/tools"
 *
 * const adapter = Fake.make({
 *   scripts: [
 *     [{ toolCall: { id: "c0", name: "charge", arguments: { euros: 20 } } }, { finish: "tool_calls" }],
 *     [{ text: "Charged." }, { finish: "stop" }]
 *   ]
 * })
 * const engine = Engine.make({ adapter, tools: [Tool.make({ name: "charge", manual: true })] })
 * const started = await Session.start(engine, [Message.user("charge 20 euros")])
 * started.session.status // => "awaiting_tools"
 * const submitted = Session.submitToolResult(started.session, "c0", { receipt: 7 })
 * submitted.status // => "idle"
 * const { result } = await Session.continue(engine, submitted)
 * result.finalResponse?.outputText // => "Charged."
 * ```
 */
export const submitToolResult = (session: Conversation, toolCallId: string, result: unknown): Session => {
  requireLegal(session, "submitToolResult")
  return submitted(session, [[toolCallId, result]])
}

/**
 * Answers pending calls by call id: all of them, or some. Without results the session is returned unchanged.
 *
 * **Details**: text and content parts are used unchanged, any other value as JSON. A result is added right after its call,
 * before any later message.
 *
 * **Errors**: throws a `SessionError`: `unknown_tool_call_id` for a call that is not, or no longer, pending;
 * `invalid_status_for_operation` when none is pending; `session_in_error_state`. Throws a `ToolError` for a result that has
 * no JSON form (`encoding_failed`) or more than 1,000,000 characters, base64 text included (`result_too_large`). Either all results are added, or
 * none.
 */
export const submitToolResults = (
  session: Conversation,
  results: Iterable<readonly [toolCallId: string, result: unknown]>
): Session => {
  requireSession(session)
  if (typeof results !== "object" || !(Symbol.iterator in (results ?? {}))) {
    const reason = "must_be_a_list of pairs: [[toolCallId, result]]"
    throw new ValidationError("invalid_options", [{ field: ["results"], reason }])
  }
  const given = [...results]
  if (given.length === 0) return sessionFrom(session)
  requireLegal(session, "submitToolResults")
  return submitted(session, given)
}

const submitted = (session: Conversation, results: ReadonlyArray<readonly [string, unknown]>): Session => {
  const waiting = [...session.pendingToolCalls]
  const messages = results.map(([toolCallId, result]): ToolMessage => {
    const at = waiting.findIndex(({ id }) => id === toolCallId)
    if (at === -1) throw unknownToolCall(toolCallId, new Set(waiting.map(({ id }) => id)))
    waiting.splice(at, 1)
    return submittedMessage(toolCallId, result)
  })
  return changed(withAnswers(session, messages), { pendingToolCalls: waiting, lastHaltedReason: undefined })
}

/** The conversation with these results. In an open step they follow their message in the order of its calls. */
const withAnswers = (session: Conversation, messages: ReadonlyArray<ToolMessage>): Conversation => {
  const { thread, open: step } = session
  if (step === undefined) return { ...session, thread: messages.reduce(answered, thread) }
  return { ...session, ...withCallersResults({ thread, open: step }, messages) }
}

/**
 * Stops waiting: pending calls, and calls that wait for a decision, are answered as cancelled; a question stays open and
 * can still be answered.
 *
 * **Details**: a session that waits for nothing is returned unchanged. A running turn is cancelled by its `signal`, or by
 * leaving its events.
 *
 * **Errors**: throws a `SessionError` (`session_in_error_state`).
 */
export const cancel = (session: Conversation): Session => {
  requireLegal(session, "cancel")
  const { status } = sessionFrom(session)
  if (!status.startsWith("awaiting")) return sessionFrom(session)
  const {
    thread,
    open: step,
    pendingQuestion
  } = withAnswers(
    session,
    session.pendingToolCalls.map(({ id, name }) => ({
      role: "tool",
      toolCallId: id,
      content: errorText(
        new ToolError("cancelled", { toolName: name, toolCallId: id, message: "the call was cancelled" })
      )
    }))
  )
  const before = { thread, open: step, pendingQuestion, pendingToolCalls: [] }
  const rules = { toolResultEncoder: json }
  const over =
    step === undefined
      ? before
      : closed({ ...before, open: step }, (toolCall, call) => leftOut(toolCall, call, "cancelled", rules).message)
  return changed(session, {
    ...over,
    expiresAt: undefined,
    lastHaltedReason: "cancelled",
    lastOutcome: { haltedReason: "cancelled", metadata: {} }
  })
}

/**
 * Leaves the error state: to the status that the session's pending calls or question require, else to `idle`. `lastOutcome`
 * keeps the error until the next turn.
 *
 * **Details**: the reply whose request failed is removed if it is empty; otherwise its text is kept.
 *
 * **Errors**: throws a `SessionError` (`invalid_status_for_operation`) in any other status.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Engine, Fake } from "@troupe/chat"
 * import { Message } from "@troupe/chat/messages"
 * import { Session } from "@troupe/chat/sessions"
 *
 * const adapter = Fake.make({
 *   scripts: [[{ error: "rate_limited" }], [{ text: "Hello." }, { finish: "stop" }]]
 * })
 * const engine = Engine.make({ adapter })
 * const failed = await Session.start(engine, [Message.user("hi")])
 * failed.session.status // => "error"
 * const { session } = await Session.continue(engine, Session.recover(failed.session))
 * session.status // => "completed"
 * ```
 */
export const recover = (session: Conversation): Session => {
  requireLegal(session, "recover")
  const { thread } = session
  const last = thread.messages.at(-1)
  const isEmptyReply =
    last?.role === "assistant" &&
    last.content === "" &&
    last.toolCalls === undefined &&
    last.metadata?.["finish_reason"] === "error"
  return changed(session, {
    thread: isEmptyReply ? { ...thread, messages: thread.messages.slice(0, -1) } : thread,
    lastHaltedReason: undefined
  })
}

/**
 * Runs the first turn of a conversation, or the next turn of a session whose thread is complete.
 *
 * **Errors**: rejects with a `ValidationError` (`invalid_session_input`) for an input that is no session, thread or list of
 * messages, with a `SessionError` when the status does not allow it or calls and results do not pair up, and as `Chat.run`
 * does.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Engine, Fake } from "@troupe/chat"
 * import { Message } from "@troupe/chat/messages"
 * import { Session } from "@troupe/chat/sessions"
 *
 * const adapter = Fake.make({
 *   scripts: [
 *     [{ text: "Hello. Who are you?" }, { finish: "stop" }],
 *     [{ text: "Welcome, Ada." }, { finish: "stop" }]
 *   ]
 * })
 * const engine = Engine.make({ adapter })
 * const { session } = await Session.start(engine, [Message.user("hi")])
 * session.status // => "completed"
 * const { result } = await Session.reply(engine, session, "Ada")
 * result.finalResponse?.outputText // => "Welcome, Ada."
 * ```
 */
export const start = (
  engine: Engine,
  input: Conversation | Thread.ThreadInput,
  options: ChatOptions = {}
): Promise<SessionTurn> => runChat(streamStart(engine, input, options))

/**
 * Sends a user message, or answers the open question, and runs a turn.
 *
 * **Errors**: rejects with a `ValidationError` (`invalid_message`) for an invalid message, else as {@link start}.
 */
export const reply = (
  engine: Engine,
  session: Conversation,
  said: UserInput,
  options: ReplyOptions = {}
): Promise<SessionTurn> => runChat(streamReply(engine, session, said, options))

/**
 * Runs a turn after a message of any role, or without one: after submitted results, a cancel, or a recovery from an error.
 * While a question is open the message must be the user's.
 *
 * **Errors**: as for {@link reply}.
 */
const continueWith = (
  engine: Engine,
  session: Conversation,
  message: Message | null = null,
  options: ReplyOptions = {}
): Promise<SessionTurn> => runChat(streamContinue(engine, session, message, options))
export { continueWith as continue }

/**
 * Runs one step on the session's thread.
 *
 * **Errors**: as for {@link start}.
 */
export const step = (
  engine: Engine,
  session: Conversation,
  options: StepOptions = {}
): Promise<SessionTurn<StepResult>> => runStep(streamStep(engine, session, options))

/**
 * Decides about a call that waits for approval. After the last decision the turn continues: allowed calls run, and the
 * model reads why the others did not.
 *
 * **Details**: `pendingApprovals` of the result of a turn that ended with `awaiting_approval` lists the calls that wait.
 * While other calls wait too, no call runs, and the result is `awaiting_approval` again. If two calls have the same id, the
 * decision is for the first that waits.
 *
 * **Errors**: rejects with a `SessionError` (`unknown_tool_call_id`) for a call that does not wait, or no longer waits, with
 * a `ValidationError` (`invalid_options`) for a decision that cannot be carried out, else as {@link start}.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Engine, Fake, tool, user } from "@troupe/chat"
 * import { Session } from "@troupe/chat/sessions"
 *
 * const pay = tool({ name: "pay", execute: () => "paid" })
 * const adapter = Fake.make({
 *   scripts: [
 *     [{ toolCall: { id: "c1", name: "pay" } }, { finish: "tool_calls" }],
 *     [{ text: "It is paid." }, { finish: "stop" }]
 *   ]
 * })
 * const engine = Engine.make({ adapter, tools: [pay] })
 * const permissions = { ask: () => "suspend" as const }
 *
 * const { session, result } = await Session.start(engine, [user("Pay, please")], { permissions })
 * session.status // => "awaiting_approval"
 * result.pendingApprovals?.map(({ toolCall }) => toolCall.name) // => ["pay"]
 * const paid = await Session.approve(engine, session, "c1", { type: "allow" }, { permissions })
 * paid.result.finalResponse?.outputText // => "It is paid."
 * ```
 */
export const approve = (
  engine: Engine,
  session: Conversation,
  toolCallId: string,
  decision: Decision,
  options: ChatOptions = {}
): Promise<SessionTurn> => runChat(streamApprove(engine, session, toolCallId, decision, options))

/**
 * The events of {@link start}, and at any time the session after the events read so far.
 *
 * **Details**: as for `Chat.stream`: the first `next` opens the request, and leaving the loop releases its resources. A
 * session whose events were left is `cancelled`, and keeps its messages.
 *
 * **Errors**: the promise rejects for invalid arguments, and the first `next` when the request could not be opened.
 * Otherwise as for {@link start}, but an unknown tool is an `error` event.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Engine, Fake } from "@troupe/chat"
 * import { Message } from "@troupe/chat/messages"
 * import { Session } from "@troupe/chat/sessions"
 *
 * const adapter = Fake.make({ script: [{ text: "Hello." }, { finish: "stop" }] })
 * const events = await Session.streamStart(Engine.make({ adapter }), [Message.user("hi")])
 * let text = ""
 * for await (const event of events) if (event.type === "text_delta") text += event.delta
 * text // => "Hello."
 * events.session().status // => "completed"
 * ```
 */
export const streamStart = async (
  engine: Engine,
  input: Conversation | Thread.ThreadInput,
  options: ChatOptions = {}
): Promise<SessionStream> => {
  const session = present(engine, conversationOf(input), options)
  requireLegal(session, "start")
  return open("chat", engine, session, options)
}

/** The events of {@link reply}; see {@link streamStart}. */
export const streamReply = async (
  engine: Engine,
  conversation: Conversation,
  said: UserInput,
  options: ReplyOptions = {}
): Promise<SessionStream> => {
  const session = present(engine, conversation, options)
  requireLegal(session, "reply")
  return answering(engine, session, said, options)
}

/** The events of {@link continueWith}; see {@link streamStart}. */
export const streamContinue = async (
  engine: Engine,
  conversation: Conversation,
  message: Message | null = null,
  options: ReplyOptions = {}
): Promise<SessionStream> => {
  const session = present(engine, conversation, options)
  requireContinuable(session, message?.role)
  if (message?.role === "user") return answering(engine, session, message, options)
  const { answer: _, ...chat } = options
  return open("chat", engine, message === null ? session : append(session, message), chat)
}

/**
 * The events of {@link step}. A step that is left changes nothing, unless a call that writes had begun: otherwise
 * `session()` is then the session it began with.
 */
export const streamStep = async (
  engine: Engine,
  conversation: Conversation,
  options: StepOptions = {}
): Promise<SessionStream<"step">> => {
  const session = present(engine, conversation, options)
  requireLegal(session, "step")
  return open("step", engine, session, options)
}

/** The events of {@link approve}; see {@link streamStart}. */
export const streamApprove = async (
  engine: Engine,
  conversation: Conversation,
  toolCallId: string,
  decision: Decision,
  options: ChatOptions = {}
): Promise<SessionStream> => {
  const session = present(engine, conversation, options)
  requireLegal(session, "approve")
  return open("chat", engine, session, options, { decisions: [{ toolCallId, decision }] })
}

/** A turn that begins with a user message: the question stays open until a turn ends otherwise than by a cancel (S9). */
const answering = (
  engine: Engine,
  session: Session,
  said: UserInput,
  { answer, ...options }: ReplyOptions
): Promise<SessionStream> => {
  const message = userMessage(said)
  if (answer !== undefined && answer !== "user_message" && answer !== "tool_result") {
    throw new ValidationError("invalid_options", [
      { field: ["answer"], reason: "must_be_one_of user_message, tool_result" }
    ])
  }
  return open("chat", engine, session, options, { messages: [message], answer })
}

/** The conversation to start with. Its messages are checked before the request. */
const conversationOf = (input: Conversation | Thread.ThreadInput): Conversation => {
  const isConversation = isRecord(input) && "thread" in input
  const thread = isConversation ? input.thread : input
  if (!isMessages(thread) && !(isRecord(thread) && isMessages(thread.messages))) {
    const advice = messagesAdvice(thread)
    throw new ValidationError("invalid_session_input", [{ field: ["session_input"], reason: "invalid_type" }], {
      advice
    })
  }
  return isConversation ? input : { ...blank, thread: Thread.from(input) }
}

const isRecord = <A>(value: A): value is A & object =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isMessages = (value: unknown): value is ReadonlyArray<Message> =>
  Array.isArray(value) && value.every((message) => isRecord(message) && "role" in message && "content" in message)
