/**
 * The answers to what a chat waits for.
 *
 * ANSWERING1. The decisions, the results and the input of one `answer` are one turn: one commit has all of them. The decided calls run first.
 *        Then the next request has every result, and the input behind them.
 * ANSWERING2. Answers that are given twice under one id are used once, before, while and after their turn runs (ARR5).
 * ANSWERING3. When a decided call halts, the turn ends, unless an input is behind the answers: then the turn goes on with the input.
 */
import type { Message } from "../model/index.ts"
import type { Decision, UserInput } from "../record/index.ts"
import { contentDigest } from "./takenInputs.ts"

/** Answers to what a chat waits for. */
export interface Answers {
  /**
   * The decisions about calls, by the id of the call; what a sub-agent waits for has an address in place of the id. Calls that are left
   * out still wait. Default: none.
   */
  readonly decisions?: Readonly<Record<string, Decision>> | undefined
  /** The results of all calls that the chat waits for, by the id of the call. Default: none. */
  readonly results?: Readonly<Record<string, unknown>> | undefined
  /** The message behind the decisions and results. Alone, it is the answer to the question that the chat asks. Default: none. */
  readonly input?: UserInput | undefined
}

/** How a person answers a chat. */
export interface AnswerOptions {
  /**
   * The id of the answers. Default: a generated one. Answers that are given twice under the same id are used once, also across a
   * restart of the program. Other content under the id is refused with a `ValidationError`.
   */
  readonly id?: string | undefined
}

/** The digest of answers, whatever the order of their ids (ARR5). */
export const answersDigest = (
  decisions: ReadonlyArray<{ readonly toolCallId: string; readonly decision: Decision }>,
  messages: ReadonlyArray<Message>
): string =>
  contentDigest({
    decisions: Object.fromEntries(decisions.map(({ toolCallId, decision }) => [toolCallId, decision])),
    results: Object.fromEntries(messages.flatMap((one) => (one.role === "tool" ? [[one.toolCallId, one]] : []))),
    input: messages.filter(({ role }) => role !== "tool")
  })
