/**
 * The end of a turn that its sender has missed, as the store has it.
 *
 * MISSED1. The result of a missed turn is made of its own messages, also when other turns have run since.
 */
import type { ChatResult } from "@troupe/chat/chats"
import type { Store } from "@troupe/chat/store"
import type { ChatView } from "@troupe/chat/view"

/** Reads entries of a conversation, the oldest first. */
type ReadEntries = (options: { readonly after: number; readonly limit: number }) => Promise<ReadonlyArray<Store.Commit>>

/** The place of a turn in the thread. `last` is its last entry, if another turn has begun after it. */
interface TurnPlace {
  readonly from: number
  readonly to?: number
  readonly last?: Store.Commit
}

const page = 500

/** Finds the turn that took an input. `undefined` if no entry has the input. */
export const placeOfTurn = async (id: string, read: ReadEntries): Promise<TurnPlace | undefined> => {
  let place: TurnPlace | undefined
  let last: Store.Commit | undefined
  for (let after = 0; ; after += page) {
    const entries = await read({ after, limit: page })
    for (const entry of entries) {
      const at = entry.messages.findIndex(({ role }) => role === "user")
      if (at >= 0) {
        const index = entry.kept + at
        if (entry.state.inputs?.includes(id) === true) place ??= { from: index }
        else if (place !== undefined) return { ...place, to: index, ...(last === undefined ? {} : { last }) }
      }
      last = entry
    }
    if (entries.length < page) return place
  }
}

/** The result of a turn whose end was missed. Without a place, it is the last turn of the view. */
export const resultOfTurn = (view: ChatView.ChatView, place: TurnPlace | undefined): ChatResult => {
  const from = place?.from ?? view.messages.findLastIndex(({ role }) => role === "user")
  const messages = view.messages.slice(Math.max(0, from), place?.to)
  const message = messages.findLast((one) => one.role === "assistant")
  const text = typeof message?.content === "string" ? message.content : ""
  const response = {
    message,
    outputText: text,
    toolCalls: message?.toolCalls ?? [],
    finishReason: null,
    usage: view.usage,
    metadata: {}
  }
  const ended = place?.last?.state
  const { haltedReason, pendingToolCalls, approvals, question } =
    place?.to === undefined
      ? view
      : { haltedReason: ended?.lastHaltedReason, pendingToolCalls: [], approvals: [], question: undefined }
  return {
    thread: { messages },
    finalResponse: message === undefined ? undefined : response,
    steps: [],
    haltedReason: haltedReason ?? "completed",
    pendingToolCalls,
    ...(approvals.length === 0 ? {} : { pendingApprovals: approvals }),
    ...(question === undefined ? {} : { pendingQuestion: question }),
    metadata: {}
  }
}
