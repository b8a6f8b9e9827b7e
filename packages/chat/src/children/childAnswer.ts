/**
 * What the model of the parent reads of a child.
 *
 * SUB16. The answer of a child is the text of its last reply, and never an earlier sentence. A cut answer says that it is cut; a blank
 *         one is a failed call.
 */
import { ToolError } from "../errors/index.ts"
import * as Messages from "../model/Message.ts"
import type { Conversation } from "../record/index.ts"
import type { SubagentCall } from "../tool/index.ts"
import * as HandlerResult from "../values/HandlerResult.ts"

/** The failure of the call of a child. */
export const failed = (
  { toolCall }: SubagentCall,
  reason: "cancelled" | "child_failed" | "child_refused",
  message: string,
  fields: { readonly cause?: unknown; readonly metadata?: Readonly<Record<string, unknown>> } = {}
): HandlerResult.Failed =>
  HandlerResult.error(new ToolError(reason, { message, toolName: toolCall.name, toolCallId: toolCall.id, ...fields }))

/** Why a reply is not whole, by its finish reason. */
const cuts: Readonly<Record<string, string>> = {
  length: "it reached the limit of its length",
  content_filter: "the filter of the provider ended it"
}

/** What the model reads of a turn that completed (SUB16): the answer, and the id by which it calls the agent again (SUB17). */
export const answerOf = (
  call: SubagentCall,
  { messages }: Conversation["thread"],
  { said, shortId }: { readonly said: string; readonly shortId: string }
): HandlerResult.HandlerResult => {
  const last = messages.findLast(({ role }) => role === "assistant")
  const answer = last === undefined ? "" : Messages.text(last)
  const cut = cuts[String(last?.metadata?.["finish_reason"])]
  if (answer.trim() === "") {
    const because = cut === undefined ? "" : `, because ${cut}`
    const message = `the agent ${call.agent} ended without an answer${because}${said}`
    return failed(call, "child_failed", message, { metadata: { haltedReason: "completed" } })
  }
  const note = cut === undefined ? "" : `[This answer of the agent ${call.agent} is cut off: ${cut}.]\n`
  return HandlerResult.ok(`${answer}\n\n${note}[agent: ${shortId}]`)
}

/** The last text of the model that is not blank. */
export const lastSaid = ({ messages }: Conversation["thread"]): string =>
  messages
    .filter(({ role }) => role === "assistant")
    .map(Messages.text)
    .findLast((text) => text.trim() !== "") ?? ""
