/** One task of the team, from its text to the answer. The questions of the researchers go to a person. */
import type { RunningTroupe } from "@troupe/chat"
import type { Decision } from "@troupe/chat/tools"

/** The person who gave the task. */
export interface Person {
  readonly show: (line: string) => void
  readonly ask: (question: string) => Promise<string>
}

/** Works on a task, and returns the answer of the coordinator. */
export const work = async (troupe: RunningTroupe, id: string, task: string, { show, ask }: Person): Promise<string> => {
  const chat = await troupe.chat(id)
  let turn = chat.send(task)
  for (;;) {
    for await (const event of turn) {
      if (event.type === "child_event" && event.event.type === "text_completed") {
        show(`${event.agent}: ${event.event.text}`)
      }
      if (event.type === "error") show(event.error instanceof Error ? event.error.message : String(event.error))
    }
    const { pendingApprovals = [], finalResponse } = await turn.result()
    if (pendingApprovals.length === 0) return finalResponse?.outputText ?? "The team has no answer."
    const decisions: Record<string, Decision> = {}
    for (const { toolCall, reason } of pendingApprovals) {
      decisions[toolCall.id] = { type: "result", value: await ask(reason) }
    }
    turn = chat.answer({ decisions })
  }
}
