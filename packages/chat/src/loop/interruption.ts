/**
 * What becomes of a reply that the end of its process, or of the program, cut short.
 *
 * INT1. A chat that is started in the middle of a turn is interrupted until the next turn begins, unless it waits for a person
 *       or for results. Its records say so, however often they are saved and loaded.
 * INT2. What the reply had said, as far as it is known, stays: it is shown, it is saved, and the next input puts it into the
 *       thread, as a reply that was cancelled. Only a retry drops it.
 */
import * as Equal from "effect/Equal"
import type { ChatContext, Interruption } from "./chatContext.ts"
import type { ChatRecord } from "../record/index.ts"
import type { AssistantMessage } from "../model/index.ts"
import * as Thread from "../model/Thread.ts"
import { isWaiting } from "../step/index.ts"
import type { Turn } from "../inbox/index.ts"

/** Whether a chat that is started from this record was interrupted (INT1). */
export const interruptionOf = (
  record: ChatRecord | undefined,
  standing: Pick<ChatContext, "open" | "pendingQuestion" | "pendingToolCalls">,
  cutOff: string | undefined
): Interruption | undefined => {
  if (record?.running !== true) return undefined
  const { open, pendingQuestion, pendingToolCalls } = standing
  if (pendingToolCalls.length > 0 || (open !== undefined && isWaiting(open))) return undefined
  // A question that the step asked which was cut short; one that the record knows was answered by the turn that began.
  if (pendingQuestion !== record.pendingQuestion) return undefined
  return { text: cutOff ?? record.draft ?? "" }
}

/**
 * What the process before had its reply say, if the store does not have it: as it streams, or as it stood when the process
 * died before its step was kept. Nothing, where the record is of another turn.
 */
export const cutOffBy = (
  { inputs, thread, steps, interrupted }: ChatContext,
  streamed: string,
  record: ChatRecord
): string | undefined => {
  if (!record.running || record.open !== undefined || record.inputs?.at(-1) !== inputs.at(-1)) return undefined
  const known = record.thread.messages.length
  const said =
    known === thread.messages.length
      ? streamed || interrupted?.text
      : known < thread.messages.length
        ? steps.at(-1)?.response.outputText
        : undefined
  return said === undefined || said === "" || said === record.draft ? undefined : said
}

/** The thread a turn begins with: what a person says comes behind what the reply had said (INT2). */
export const withCutOff = (
  thread: Thread.Thread,
  interrupted: Interruption | undefined,
  { messages }: Pick<Turn, "messages">
): Thread.Thread =>
  interrupted === undefined || interrupted.text === "" || messages[0]?.role !== "user"
    ? thread
    : Thread.append(thread, cutShort(interrupted.text))

/** A reply that was cut short, as a cancel leaves it. */
const cutShort = (content: string): AssistantMessage => ({
  role: "assistant",
  content,
  metadata: { finish_reason: null, cancelled: true, interrupted: true }
})

/** The record with what the process before knew of its running calls and of its permission mode; the same record when it has all. */
export const recalledBy = ({ journal, modeKeeper }: ChatContext, record: ChatRecord): ChatRecord => {
  const recalled = journal?.recall(record) ?? record
  const permissionMode = modeKeeper.standing
  const isKept = permissionMode === undefined || Equal.equals(permissionMode, record.permissionMode)
  return isKept ? recalled : { ...recalled, permissionMode }
}
