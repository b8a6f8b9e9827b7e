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
import { isInterrupted, type TurnData } from "../inbox/index.ts"

/** Whether a chat that starts from this record was interrupted (INT1). */
export const isInterruption = (
  record: Conversation,
  { open, pendingQuestion, pendingToolCalls }: Pick<Conversation, "open" | "pendingQuestion" | "pendingToolCalls">
): boolean =>
  record.running &&
  pendingToolCalls.length === 0 &&
  (open === undefined || !isWaiting(open)) &&
  // The interrupted step asked this question. A question in the record was answered by the turn that began, so it does
  // not count.
  pendingQuestion === record.pendingQuestion

/**
 * The text of the previous process's reply, if the store does not have it: the streamed text, or the text of a step that
 * was not stored. `undefined` if the record belongs to another turn.
 */
export const cutOffBy = (
  context: Pick<ChatContext, "record" | "turn" | "steps">,
  streamed: string,
  record: Conversation
): string | undefined => {
  const { inputs, thread, draft } = context.record
  if (!record.running || record.open !== undefined || record.inputs?.at(-1) !== inputs?.at(-1)) return undefined
  const known = record.thread.messages.length
  const said =
    known === thread.messages.length
      ? streamed || (isInterrupted(context) ? draft : undefined)
      : known < thread.messages.length
        ? context.steps.map(original).at(-1)?.response.outputText
        : undefined
  return said === undefined || said === "" || said === record.draft ? undefined : said
}

/** The thread at the beginning of a turn: a user message comes after the text of the interrupted reply (INT2). */
export const withCutOff = (
  context: Pick<ChatContext, "record" | "turn">,
  { messages }: Pick<TurnData, "messages">
): Thread.Thread => {
  const { thread, draft = "" } = context.record
  return !isInterrupted(context) || draft === "" || messages[0]?.role !== "user"
    ? thread
    : Thread.append(thread, cutShort(draft))
}

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
