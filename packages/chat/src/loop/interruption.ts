/**
 * Handles a reply that was cut short by the end of its process or of the program.
 *
 * INT1. A chat that starts from a record with a running turn is interrupted until the next turn begins, unless it waits for
 *       a person or for results. Its records keep that, however often they are saved and loaded. The next input is no answer to a
 *       question that the interrupted turn had the answer of.
 * INT2. The known text of the interrupted reply is shown and saved. The next input adds it to the thread, as a cancelled
 *       reply. Only a retry discards it.
 */
import * as Equal from "effect/Equal"
import type { ChatContext } from "./chatContext.ts"
import type { AssistantMessage } from "../model/index.ts"
import * as Thread from "../model/Thread.ts"
import type { Journal, Opened } from "../step/index.ts"
import { original } from "../values/index.ts"
import { type AgentRef, type Conversation, isWaiting, type ModeStanding, type OpenStep } from "../record/index.ts"
import type { TurnData } from "../inbox/index.ts"

/** Whether a chat that starts from this record was interrupted (INT1). */
export const interruptionOf = (
  record: Conversation | undefined,
  standing: Pick<ChatContext, "open" | "pendingQuestion" | "pendingToolCalls">,
  cutOff: string | undefined
): ChatContext["interrupted"] => {
  if (record?.running !== true) return undefined
  const { open, pendingQuestion, pendingToolCalls } = standing
  if (pendingToolCalls.length > 0 || (open !== undefined && isWaiting(open))) return undefined
  // The interrupted step asked this question. A question in the record was answered by the turn that began, so it does
  // not count.
  if (pendingQuestion !== record.pendingQuestion) return undefined
  return { text: cutOff ?? record.draft ?? "" }
}

/**
 * The text of the previous process's reply, if the store does not have it: the streamed text, or the text of a step that
 * was not stored. `undefined` if the record belongs to another turn.
 */
export const cutOffBy = (
  { inputs, thread, steps, interrupted }: Pick<ChatContext, "inputs" | "thread" | "steps" | "interrupted">,
  streamed: string,
  record: Conversation
): string | undefined => {
  if (!record.running || record.open !== undefined || record.inputs?.at(-1) !== inputs.at(-1)) return undefined
  const known = record.thread.messages.length
  const said =
    known === thread.messages.length
      ? streamed || interrupted?.text
      : known < thread.messages.length
        ? steps.map(original).at(-1)?.response.outputText
        : undefined
  return said === undefined || said === "" || said === record.draft ? undefined : said
}

/** The thread at the beginning of a turn: a user message comes after the text of the interrupted reply (INT2). */
export const withCutOff = (
  thread: Thread.Thread,
  interrupted: ChatContext["interrupted"],
  { messages }: Pick<TurnData, "messages">
): Thread.Thread =>
  interrupted === undefined || interrupted.text === "" || messages[0]?.role !== "user"
    ? thread
    : Thread.append(thread, cutShort(interrupted.text))

/** The interrupted reply, in the form of a cancelled reply. */
const cutShort = (content: string): AssistantMessage => ({
  role: "assistant",
  content,
  metadata: { finish_reason: null, cancelled: true, interrupted: true }
})

/** What the environment of a chat's process knew, and no record has. */
export interface Recalled {
  readonly journal: Journal | undefined
  readonly standing: ModeStanding | undefined
  readonly agentIn: (opened: Opened, agent: AgentRef | undefined, before: OpenStep | undefined) => AgentRef | undefined
}

/** A handoff whose result came after the save. */
const withHandoff = (known: Recalled, record: Conversation, recalled: Conversation): Conversation => {
  const { thread, open, agent } = recalled
  if (recalled === record || open === undefined) return recalled
  const now = known.agentIn({ thread, open }, agent, record.open)
  return now === agent ? recalled : { ...recalled, agent: now }
}

/** The record with what the process before knew of its running calls and of its permission mode; the same record when it has all. */
export const recalledBy = (known: Recalled, record: Conversation): Conversation => {
  const { journal, standing } = known
  const recalled = withHandoff(known, record, journal?.recall(record) ?? record)
  const isKept = standing === undefined || Equal.equals(standing, record.permissionMode)
  return isKept ? recalled : { ...recalled, permissionMode: standing }
}
