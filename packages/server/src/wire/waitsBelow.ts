/** The waits of sub-agents, which are listed with those of the chat itself. */
import type { PendingApproval } from "@troupe/chat/tools"

/** Whether a person answers the wait of a sub-agent with a text: a question, or a call that waits for its result. */
export const isAnswered = ({ kind }: Pick<PendingApproval, "kind">): boolean =>
  kind === "question" || kind === "tool_result"

/** Whether this is the address of a wait below a call. */
export const isBelow = (id: string | undefined, toolCallId: string): boolean =>
  id?.startsWith(`${toolCallId}/~/`) === true
