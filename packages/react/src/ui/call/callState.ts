/** The calls of messages and of the running step, in one shape. */
import type { Message, ToolCall } from "@troupe/chat/messages"
import type { PendingApproval } from "@troupe/chat/tools"
import { ChatView } from "@troupe/chat/view"
import { json } from "../../format/index.ts"

type CallView = ChatView.ChatView["toolCalls"][number]

/**
 * What a call does.
 *
 * - `queued`: it waits to start
 * - `running`: its handler runs
 * - `waiting`: it waits for a person, or for a result from outside
 * - `draining`: it was cancelled, and may still end in time
 * - `done`: it has its outcome
 */
type CallWork = "queued" | "running" | "waiting" | "draining" | "done"

/** A tool call as {@link ToolCall} shows it. */
export interface ShownCall {
  /** As the provider gave it: the address of the call in the verbs of its chat. */
  readonly id: string
  /** The name of the tool. */
  readonly name: string
  /** Its main argument in one line. */
  readonly about: string | undefined
  /** `undefined` until the reply with the call is stored. */
  readonly arguments?: ToolCall.ToolCall["arguments"] | undefined
  /** The state of the work. */
  readonly work: CallWork
  /** How it ended: `completed`, `failed`, `timed_out`, … */
  readonly outcome?: string | undefined
  /** The last report of its handler; `{ done, total }` becomes a bar. */
  readonly progress?: unknown
  /** The text of its result. */
  readonly result?: string | undefined
  /** What the sub-agent of the call does. */
  readonly child?: CallView["child"]
  /** What the call, or its sub-agent, waits for. */
  readonly approvals: ReadonlyArray<PendingApproval>
}

const works: Readonly<Record<CallView["status"], CallWork>> = {
  queued: "queued",
  gating: "queued",
  running: "running",
  cancelling: "draining",
  restarting: "draining",
  suspended: "waiting",
  done: "done"
}

const noApprovals: ReadonlyArray<PendingApproval> = []

/** The decisions of a call, and those of its sub-agent, whose ids begin with that of the call. */
const approvalsOf = (id: string, approvals: ReadonlyArray<PendingApproval>): ReadonlyArray<PendingApproval> => {
  const own = approvals.filter(({ toolCall }) => toolCall.id === id || toolCall.id.startsWith(`${id}/~/`))
  return own.length === 0 ? noApprovals : own
}

/** A call of the running step. */
export const runningCall = (
  { id, name, about, status, outcome, progress, child }: CallView,
  approvals: ReadonlyArray<PendingApproval>
): ShownCall => ({
  id,
  name,
  about,
  work: works[status],
  outcome,
  progress,
  child,
  approvals: approvalsOf(id, approvals)
})

/** The tool messages of a thread by the call they answer. */
export type Results = ReadonlyMap<string, Extract<Message.Message, { readonly role: "tool" }>>

/** The results of a thread. */
export const resultsOf = (messages: ReadonlyArray<Message.Message>): Results =>
  new Map(messages.flatMap((message) => (message.role === "tool" ? [[message.toolCallId, message] as const] : [])))

/** A call of a message. */
export const calledIn = (
  { id, name, arguments: args }: ToolCall.ToolCall,
  results: Results,
  approvals: ReadonlyArray<PendingApproval>
): ShownCall => {
  const result = results.get(id)
  return {
    id,
    name,
    about: ChatView.mainArgument(args),
    arguments: args,
    work: result === undefined ? "waiting" : "done",
    outcome: result === undefined ? undefined : (result.outcome ?? "answered"),
    result:
      result === undefined ? undefined : typeof result.content === "string" ? result.content : json(result.content),
    approvals: approvalsOf(id, approvals)
  }
}
