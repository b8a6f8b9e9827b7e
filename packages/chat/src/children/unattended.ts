/**
 * How a child goes on that waits for somebody.
 *
 * SUB10. No person answers a child: a call that needs a decision is denied, a question and a call of the caller get a text that says so.
 *        The child continues with it, so that no wait of a child is left in the list of waits.
 */
import type { ChatContext } from "../loop/index.ts"
import type { Decision } from "../record/index.ts"
import { pendingApprovalsOf } from "../step/index.ts"

/** A turn of a child. */
export interface Turn {
  readonly result: () => Promise<unknown>
}

/** The functions that answer a child. */
export interface Answering {
  readonly send: (input: string) => Turn
  readonly approve: (toolCallId: string, decision: Decision) => Turn
  readonly submitToolResults: (results: Readonly<Record<string, unknown>>) => Turn
}

const nobody = "Nobody can answer a sub-agent. Go on without an answer, or say what you need to know."

/**
 * The turn that continues a child which waits; `undefined` if it does not wait. What it waits for follows from its open calls, not from
 * the end of its last turn: after a restart it can wait in a turn that has no end.
 */
export const goesOn = (
  { pendingQuestion, thread, open, pendingToolCalls }: ChatContext,
  child: Answering
): Turn | undefined => {
  const denied = pendingApprovalsOf(thread, open).map(({ toolCall }) =>
    child.approve(toolCall.id, { type: "deny", reason: "nobody can decide about the calls of a sub-agent" })
  )
  if (denied.length > 0) return denied.at(-1)
  if (pendingToolCalls.length > 0) {
    return child.submitToolResults(Object.fromEntries(pendingToolCalls.map(({ id }) => [id, nobody])))
  }
  return pendingQuestion === undefined ? undefined : child.send(nobody)
}
