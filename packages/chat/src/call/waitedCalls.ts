/**
 * The calls whose handlers wait for the answers to questions of their own.
 *
 * Owns: the function by which each such call ends what it has left open elsewhere, in this program. Does not own the waits, which are in
 * the record of the chat.
 *
 * DROPPED1. When a call waits for answers and ends without another run, its function is called once: its turn was cancelled, its wait has
 *           expired, or the chat was rewound or deleted.
 */
import type { Outcome } from "../model/index.ts"
import type { Conversation } from "../record/index.ts"
import type { CallPlace } from "../tool/index.ts"

/** A call that asks: its id, its place, and the function that is called when nobody answers. */
interface Asking {
  readonly call: string
  readonly place: CallPlace
  readonly dropped: () => void
  /** The place of its reply in the thread, once the record has the wait. */
  at: number | undefined
}

/** The outcomes of a call whose handler has ended with a result. */
const ownEnds: ReadonlySet<Outcome | undefined> = new Set<Outcome>(["completed", "failed"])

export class WaitedCalls {
  readonly chats = new Map<string, Map<string, Asking>>()

  hold(chat: string, asking: Pick<Asking, "call" | "place" | "dropped">): void {
    const held = this.chats.get(chat) ?? new Map<string, Asking>()
    const { stepId, index } = asking.place
    this.chats.set(chat, held.set(`${stepId} ${index}`, { ...asking, at: undefined }))
  }

  /** The store has this record of the chat. */
  recorded(chat: string, { open, thread, running }: Conversation): void {
    const held = this.chats.get(chat)
    if (held === undefined) return
    for (const [key, asking] of held) {
      const { stepId, index = 0 } = asking.place
      const state = open?.id === stepId ? open?.calls[index]?.state : undefined
      if (state === "waiting") asking.at = open?.at
      if ((state !== undefined && state !== "done") || (asking.at === undefined && running)) continue
      held.delete(key)
      const after = thread.messages.slice(asking.at ?? thread.messages.length)
      const result = after.find((message) => message.role === "tool" && message.toolCallId === asking.call)
      if (result?.role !== "tool" || !ownEnds.has(result.outcome)) asking.dropped()
    }
    if (held.size === 0) this.chats.delete(chat)
  }

  /** The chat is deleted. */
  deleted(chat: string): void {
    const held = this.chats.get(chat)
    this.chats.delete(chat)
    for (const { dropped } of held?.values() ?? []) dropped()
  }
}
