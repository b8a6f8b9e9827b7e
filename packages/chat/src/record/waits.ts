/**
 * What a conversation waits for: the answers, decisions and results that a person gives. What its sub-agents wait for is part
 * of it, and the conversation of a sub-agent has no waits of its own.
 *
 * WAIT1. What a stored conversation waits for follows from its record alone, by one function. Every store uses it.
 */
import { waitOfTask } from "./BackgroundTask.ts"
import { isRecord, shortened } from "../errors/index.ts"
import { asShown, shown } from "../json/index.ts"
import type { Thread, ToolCall } from "../model/index.ts"
import type { QuestionOptions } from "../values/index.ts"
import type { ApprovalKind, Ask } from "./Approval.ts"
import { addressOf } from "./Child.ts"
import type { Conversation } from "./Conversation.ts"

export const waitKinds = ["question", "approval", "unknown_outcome", "tool_result"] as const

/**
 * What a person is asked for.
 *
 * - `question`: the answer to a tool's question; a message answers it, and `approve` that of a sub-agent
 * - `approval`: the decision about a call that has not run; `approve` decides
 * - `unknown_outcome`: the decision about a call that may have run when the program ended; `approve` decides
 * - `tool_result`: the result of a call that the caller answers; `submitToolResults` gives it, and `approve` that of a
 *   sub-agent's call
 */
export type WaitKind = (typeof waitKinds)[number]

/** The agent of a conversation. */
interface WaitingAgent {
  readonly name: string
  readonly version?: string | undefined
}

/** One wait of a record; a question, and a call that the caller answers, have no `askedAt`. `options` are those of a question. */
export interface RecordWait {
  readonly kind: WaitKind
  readonly toolCallId: string
  readonly tool: string
  readonly text: string
  readonly options?: Readonly<Record<string, unknown>> | undefined
  readonly reason?: string | undefined
  readonly agent?: WaitingAgent | undefined
  readonly askedAt?: number | undefined
  readonly expiresAt?: number | undefined
}

const kinds = {
  permission: "approval",
  unknown_outcome: "unknown_outcome",
  question: "question",
  tool_result: "tool_result"
} as const satisfies Readonly<Record<ApprovalKind, WaitKind>>

const none: ReadonlyArray<never> = []

/** The most characters of the options of a question, as JSON. */
const mostOptions = 2_000

/** The options of a question in plain JSON; nothing if there are none, or if they are too long for a list. */
export const shownOptions = (options: QuestionOptions | undefined): Pick<RecordWait, "options"> => {
  if (options === undefined || Object.keys(options).length === 0) return {}
  const plain = asShown(options)
  return JSON.stringify(plain).length > mostOptions ? {} : { options: plain }
}

/**
 * What a record waits for, in the order of its calls.
 *
 * **Details**: of calls with the same id only the first is listed, because that is the one that a decision is for. The texts
 * have at most 2,000 characters, and the number of those left out. Options of more than 2,000 characters are left out. A question
 * waits only while no turn runs.
 */
export const waitsOf = (record: Conversation): ReadonlyArray<RecordWait> => {
  const { open, pendingQuestion, pendingToolCalls, running, parent, tasks = none } = record
  if (parent !== undefined) return none
  const asks = pendingQuestion !== undefined && !running
  if (open === undefined && !asks && pendingToolCalls.length === 0 && tasks.length === 0) return none
  const waits = [
    ...approvalsOf(record),
    ...pendingToolCalls.map((call) => waitOf("tool_result", call, { expiresAt: record.expiresAt })),
    ...(asks ? [questionOf(record, pendingQuestion)] : []),
    ...tasks.flatMap((task) => {
      const waiting = waitOfTask(task)?.asks ?? none
      return childWaits(task.toolCallId, waiting, waiting[0]?.expiresAt)
    })
  ]
  const first = new Map(waits.toReversed().map((wait) => [wait.toolCallId, wait]))
  const agent = agentOf(record)
  return waits
    .filter((wait) => first.get(wait.toolCallId) === wait)
    .map((wait) => (agent === undefined || wait.agent !== undefined ? wait : { ...wait, agent }))
}

const approvalsOf = ({ thread, open }: Conversation): ReadonlyArray<RecordWait> => {
  if (open === undefined) return none
  const toolCalls = callsAt(thread, open.at)
  return open.calls.flatMap((call, position) => {
    const toolCall = toolCalls[position]
    if (call.state !== "waiting" || toolCall === undefined) return []
    const { kind, reason, askedAt, expiresAt, child, arguments: given = toolCall.arguments } = call
    if (child !== undefined) return childWaits(toolCall.id, child.asks, expiresAt)
    if (kind === "subagent") return []
    return [waitOf(kinds[kind], { ...toolCall, arguments: given }, { reason: shortened(reason), askedAt, expiresAt })]
  })
}

/** What the sub-agent of a call waits for. */
const childWaits = (
  toolCallId: string,
  asks: ReadonlyArray<Ask>,
  expiresAt: number | undefined
): ReadonlyArray<RecordWait> =>
  asks.flatMap(({ id, kind, toolCall, reason, agent, askedAt, options, decision }) => {
    if (decision !== undefined) return []
    const call = { ...toolCall, id: addressOf(toolCallId, id) }
    const rest = { ...(agent === "" ? {} : { agent: { name: agent } }), askedAt, expiresAt }
    const wait = waitOf(kinds[kind], call, kind === "question" ? rest : { ...rest, reason: shortened(reason) })
    return [kind === "question" ? { ...wait, text: shortened(reason), ...shownOptions(options) } : wait]
  })

const callsAt = ({ messages }: Thread, at: number): ReadonlyArray<ToolCall> => {
  const message = messages[at]
  return message?.role === "assistant" ? (message.toolCalls ?? none) : none
}

const waitOf = (
  kind: WaitKind,
  call: ToolCall,
  rest: Pick<RecordWait, "reason" | "agent" | "askedAt" | "expiresAt">
): RecordWait => ({ kind, toolCallId: call.id, tool: call.name, text: argumentsOf(call), ...rest })

/** The arguments as JSON; those that are no JSON object as the model wrote them. */
const argumentsOf = ({ arguments: given, rawArguments }: ToolCall): string =>
  shortened(given === null ? (rawArguments ?? "") : JSON.stringify(shown(given)))

const questionOf = (
  { thread, expiresAt }: Conversation,
  { toolCallId, question, options }: NonNullable<Conversation["pendingQuestion"]>
): RecordWait => {
  let tool = ""
  for (let at = thread.messages.length - 1; at >= 0 && tool === ""; at--) {
    tool = callsAt(thread, at).find(({ id }) => id === toolCallId)?.name ?? ""
  }
  return { kind: "question", toolCallId, tool, text: shortened(question), ...shownOptions(options), expiresAt }
}

const agentOf = (record: object): WaitingAgent | undefined => {
  const agent: unknown = Reflect.get(record, "agent")
  if (!isRecord(agent) || typeof agent["name"] !== "string") return undefined
  const { name, version } = agent
  return typeof version === "string" ? { name, version } : { name }
}
