/** Random acts on one chat. */
import type { LocalChatRef } from "@troupe/chat"
import type { Decision } from "@troupe/chat/tools"
import { type Chance, pick } from "./chance.ts"
import type { Ledger } from "./ledger.ts"
import { readTurn, type Sleep } from "./readers.ts"

const decisions: readonly [Decision, ...ReadonlyArray<Decision>] = [
  { type: "allow" },
  { type: "deny" },
  { type: "halt" },
  { type: "result", value: "by hand" }
]

/** What an act needs. */
export interface Acting {
  readonly chance: Chance
  readonly sleep: Sleep
  readonly ledger: Ledger
}

export const retryTurn = async (chat: LocalChatRef, { chance, sleep, ledger }: Acting): Promise<void> => {
  const waits = (chat.getSnapshot()?.context.pendingToolCalls.length ?? 0) > 0
  if (waits || chat.thread.messages.length === 0) return
  await readTurn(chat.retry(), chance, sleep, ledger)
}

export const cancelTurn = async (chat: LocalChatRef, { ledger }: Acting): Promise<void> => {
  ledger.add("cancels")
  await chat.cancel()
  ledger.add("cancels over")
}

/** Cancels or restarts one tool call, or cancels all. */
export const controlCall = async (chat: LocalChatRef, { chance, ledger }: Acting): Promise<void> => {
  const [first] = chat.getSnapshot()?.context.toolCalls.filter(({ status }) => status === "running") ?? []
  const kind = chance()
  ledger.add("verbs for calls")
  try {
    if (first === undefined || kind < 0.2) await chat.cancelToolCalls()
    else if (kind < 0.6) await chat.cancelToolCall(first.id)
    else await chat.restartToolCall(first.id)
  } catch {
    // It was over by then.
  }
  ledger.add("verbs for calls over")
}

/** Decides about the calls that wait for that, and gives the results that the chat waits for. */
export const answer = async (chat: LocalChatRef, { chance, sleep, ledger }: Acting): Promise<void> => {
  const { pendingApprovals = [], pendingToolCalls = [], phase } = chat.getSnapshot()?.context ?? {}
  const turns = pendingApprovals.map(({ toolCall }) => chat.approve(toolCall.id, pick(chance, decisions)))
  if (phase === "awaitingTools" && turns.length === 0 && pendingToolCalls.length > 0) {
    turns.push(chat.submitToolResults(Object.fromEntries(pendingToolCalls.map(({ id }) => [id, "done"]))))
  }
  await Promise.all(turns.map((turn) => readTurn(turn, chance, sleep, ledger)))
}
