/** How a chat's context changes: by turns that begin, steps that end, and what the store does. */
import type { ChatContext, ChatInput, ChatOutput, Turn } from "../ChatMachine.ts"
import { SessionError } from "../ChatError.ts"
import type { ChatRecord } from "../ChatRecord.ts"
import type { Event } from "../Event.ts"
import type { Message } from "../Message.ts"
import type { StepOutput } from "../StepMachine.ts"
import * as Thread from "../Thread.ts"
import type { ToolCall } from "../ToolCall.ts"
import { describe } from "../ToolResultEncoder.ts"
import * as Usage from "../Usage.ts"
import { chatResult, terminalCondition } from "./terminalCondition.ts"

/** What a chat begins with: a record to live from, or a turn to run. */
export const initialContext = ({ id, engine, record, thread, turn, commit, watcher }: ChatInput): ChatContext => ({
  id,
  engine,
  thread: record?.thread ?? thread ?? Thread.empty,
  usage: record?.usage ?? Usage.empty,
  turn: undefined,
  waiting: turn === undefined ? [] : [turn],
  steps: [],
  cancelled: false,
  committed: true,
  result: undefined,
  refusal: undefined,
  failure: undefined,
  lastHaltedReason: record?.lastHaltedReason,
  pendingQuestion: record?.pendingQuestion,
  pendingToolCalls: record?.pendingToolCalls ?? [],
  once: turn !== undefined,
  commit,
  watcher
})

/** Takes up a turn: the one that came, else the first that waits. */
export const beginTurn = (context: ChatContext, started: Turn | undefined): Partial<ChatContext> => {
  const [next, ...waiting] = started === undefined ? context.waiting : [started, ...context.waiting]
  if (next === undefined) return {}
  next.outlet.begin()
  return {
    turn: next,
    waiting,
    thread: beginning(context.thread, next),
    pendingToolCalls: [],
    steps: [],
    cancelled: false,
    committed: false,
    result: undefined,
    refusal: undefined,
    failure: undefined
  }
}

/** The thread a turn begins with. */
const beginning = (thread: Thread.Thread, turn: Turn): Thread.Thread => {
  const kept =
    turn.retry === true
      ? thread.messages.findLastIndex(({ role }) => role === "user" || role === "tool") + 1
      : undefined
  const from = kept === undefined ? thread : { ...thread, messages: thread.messages.slice(0, kept) }
  return turn.messages.length === 0 ? from : Thread.append(from, ...turn.messages)
}

/** An aborted signal counts at once, before its `turn.cancel` has come. */
export const isCancelled = ({ cancelled, turn }: ChatContext): boolean =>
  cancelled || turn?.options.signal?.aborted === true

/** The turn that runs. */
export const turnOf = ({ turn }: ChatContext): Turn => {
  if (turn === undefined) throw new Error("a chat runs without a turn")
  return turn
}

/** What the next step is started with. */
export const stepInput = (context: ChatContext) => {
  const { engine, thread, watcher } = context
  const { options, outlet } = turnOf(context)
  return { engine, thread, options, outlet, watcher }
}

/** What a step changes, and what the chat comes to if it was the last. */
export const afterStep = (context: ChatContext, output: StepOutput): Partial<ChatContext> => {
  if (output.type === "refused") {
    const refused = ended(context, { reason: "error", metadata: { error: output.error } })
    return { ...refused, refusal: output.error }
  }
  const { result } = output
  const after: ChatContext = {
    ...context,
    thread: result.thread,
    usage: Usage.add(context.usage, result.response.usage),
    steps: [...context.steps, result]
  }
  const terminal = terminalCondition(result, context.steps.length, turnOf(context).options, isCancelled(context))
  const { thread, usage, steps } = after
  return { thread, usage, steps, committed: false, ...(terminal === undefined ? {} : ended(after, terminal)) }
}

/** The turn ends with the error of the store; what the chat waits for, it goes on waiting for. */
export const commitFailed = (context: ChatContext, event: object): Partial<ChatContext> => {
  const cause: unknown = "error" in event ? event.error : undefined
  const error = new SessionError(
    "store_failed",
    `The chat could not be stored: ${describe(cause)}; retry() tries again`,
    { cause }
  )
  const { pendingQuestion, pendingToolCalls } = context
  const failed = ended(context, { reason: "error", metadata: { error } })
  return { ...failed, pendingQuestion, pendingToolCalls, committed: true, failure: error }
}

/** The turn is over, for this reason. */
export const ended = (context: ChatContext, terminal: Parameters<typeof chatResult>[2]): Partial<ChatContext> => {
  const result = chatResult(context.thread, context.steps, terminal)
  return {
    result,
    committed: false,
    thread: result.thread,
    lastHaltedReason: result.haltedReason,
    pendingQuestion:
      result.pendingQuestion ?? (result.haltedReason === "cancelled" ? context.pendingQuestion : undefined),
    pendingToolCalls: result.pendingToolCalls
  }
}

/** A step that could not begin says so with an `error` event of its own. */
export const closingEvents = ({ result, refusal, failure }: ChatContext): ReadonlyArray<Event> => {
  const completed: ReadonlyArray<Event> = result === undefined ? [] : [{ type: "chat_completed", result }]
  const error = failure ?? refusal
  return error === undefined ? completed : [{ type: "error", error }, ...completed]
}

/** What is kept of a chat. */
export const recordOf = (context: ChatContext): ChatRecord => ({
  id: context.id,
  thread: context.thread,
  usage: context.usage,
  running: context.result === undefined,
  lastHaltedReason: context.lastHaltedReason,
  pendingQuestion: context.pendingQuestion,
  pendingToolCalls: context.pendingToolCalls
})

/** What a chat that ran one turn ends with. */
export const outputOf = ({ result, refusal }: ChatContext): ChatOutput => {
  if (result !== undefined) return { type: "completed", result }
  if (refusal !== undefined) return { type: "refused", error: refusal }
  throw new Error("a chat ended without a result")
}

/** Why a turn cannot begin: it must answer all the calls the chat waits for, and no others. */
export const refusalOf = (
  pending: ReadonlyArray<ToolCall>,
  messages: ReadonlyArray<Message>
): SessionError | undefined => {
  const answered = new Set(messages.flatMap((message) => (message.role === "tool" ? [message.toolCallId] : [])))
  const known = new Set(pending.map((call) => call.id))
  const foreign = [...answered].find((id) => !known.has(id))
  if (foreign !== undefined) return unknownToolCall(foreign, known)
  if (pending.every((call) => answered.has(call.id))) return undefined
  return new SessionError(
    "awaiting_tool_results",
    `The chat waits for the results of ${pending.map((call) => `${call.name} (${call.id})`).join(", ")}; submit them with submitToolResults`
  )
}

/** A result was submitted for a call that the chat does not wait for. */
export const unknownToolCall = (id: string, pending: ReadonlySet<string>): SessionError =>
  new SessionError(
    "unknown_tool_call_id",
    `The chat does not wait for a call ${id}; it waits for ${[...pending].join(", ") || "none"}`,
    { metadata: { toolCallId: id } }
  )
