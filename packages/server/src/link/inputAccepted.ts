/** Waits until a chat has accepted an input. */
import type { ChatTurn } from "@troupe/chat/chats"

/** Resolves when the chat has accepted the input of a turn. Throws the reason of a refusal. */
export const taken = async (
  turn: Pick<ChatTurn, "receipt" | "ended" | "status" | "over" | "result">
): Promise<void> => {
  await Promise.race([turn.receipt, turn.ended])
  // A decision that came second rejects with the one that was applied.
  if (turn.status === "rejected" && turn.over) await turn.result()
}
