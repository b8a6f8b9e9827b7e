/**
 * The answers of a client to the calls that a chat waits for.
 *
 * ANSWERS1. Decisions come before results: the results follow in a turn of their own, once the decided calls have run. While
 *           a call still waits for a decision, the results are not used: the client sends them again with that decision.
 */
import type { LocalChatRef } from "@troupe/chat"
import type { Decision, PendingApproval } from "@troupe/chat/tools"
import type { Call } from "../http/index.ts"
import { checkedAnswer } from "./clientContent.ts"
import { type BegunTurn, begunTurn } from "./turnReader.ts"

/** The result of a client's call: a value, or the text of its failure. */
export type CallResult = { readonly value: unknown } | { readonly error: string }

/** Returns a result that is not too long. Throws an `HttpError` (413, 422). */
export const checkedResult = (result: CallResult, mostCharacters: number): CallResult => {
  checkedAnswer("error" in result ? result.error : result.value, mostCharacters)
  return result
}

/** A decision about a call. */
export interface Decided {
  readonly id: string
  readonly decision: Decision
}

/** What the turns of some answers have beside them: their options, and a message that follows the results. */
type Beside = NonNullable<Parameters<LocalChatRef["submitToolResults"]>[1]>

/** Begins the turns of some answers, and returns those whose events continue the reply. Rejects when they are refused. */
export const answering = async (
  call: Pick<Call, "accepted">,
  chat: LocalChatRef,
  decided: ReadonlyArray<Decided>,
  results: ReadonlyMap<string, CallResult>,
  beside: Beside = {}
): Promise<ReadonlyArray<BegunTurn>> => {
  const waiting = chat.getSnapshot()?.context.pendingApprovals.length ?? 0
  const decisions = decided.map(({ id, decision }) => chat.approve(id, decision, { options: beside.options }))
  const hasResults = results.size > 0 && (decided.length === 0 || decided.length >= waiting)
  const submitted = hasResults ? [chat.submitToolResults(valuesOf(results), beside)] : []
  const begun = [...decisions.slice(-1), ...submitted].map((turn) => begunTurn(chat, turn, true))
  // Results behind decisions wait for the end of that turn.
  for (const turn of decided.length === 0 ? submitted : decisions) await call.accepted(chat, turn)
  return begun
}

const valuesOf = (results: ReadonlyMap<string, CallResult>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Array.from(results, ([id, result]) => [id, "error" in result ? new Error(result.error) : result.value])
  )

/** Whether a person answers the wait of a sub-agent with a text: a question, or a call that waits for its result. */
export const isAnswered = ({ kind }: Pick<PendingApproval, "kind">): boolean =>
  kind === "question" || kind === "tool_result"

/** Whether this is the address of a wait below a call. */
export const isBelow = (id: string | undefined, toolCallId: string): boolean =>
  id?.startsWith(`${toolCallId}/~/`) === true
