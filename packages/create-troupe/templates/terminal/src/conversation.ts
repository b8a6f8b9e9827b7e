/** One message of a person, from the text to the end of the answer. A call that needs a decision asks for it. */
import type { LocalChatRef } from "@troupe/chat"
import type { Decision } from "@troupe/chat/tools"

/** What the conversation needs from the place where it is shown. */
export interface Screen {
  readonly write: (text: string) => void
  readonly confirm: (question: string) => Promise<boolean>
}

/** Sends a message, shows the answer while it streams, and asks for each decision that the answer waits for. */
export const say = async (chat: LocalChatRef, text: string, { write, confirm }: Screen): Promise<void> => {
  let turn = chat.send(text)
  for (;;) {
    for await (const event of turn) {
      if (event.type === "text_delta") write(event.delta)
      if (event.type === "tool_execution_completed") write(`  ${event.name}: ${event.outcome}\n`)
      if (event.type === "error") write(`  ${event.error instanceof Error ? event.error.message : String(event.error)}`)
    }
    const { pendingApprovals = [] } = await turn.result()
    write("\n")
    if (pendingApprovals.length === 0) return
    const decisions: Record<string, Decision> = {}
    for (const { toolCall } of pendingApprovals) {
      const isAllowed = await confirm(`  Run ${toolCall.name} ${JSON.stringify(toolCall.arguments)}? [y/N] `)
      decisions[toolCall.id] = isAllowed ? { type: "allow" } : { type: "deny", reason: "The user refused" }
    }
    turn = chat.answer({ decisions })
  }
}
