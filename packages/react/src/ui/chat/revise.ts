/**
 * Changes what was said: the conversation is set back to before a message, and goes on from there.
 *
 * REVISE1. The entry to go back to is on the line of entries that led to the present thread, and has all messages before the changed one
 *          and no other.
 */
import type { Store } from "@troupe/chat/store"
import type { Conversation } from "../../hooks/index.ts"
import { lineOf } from "../../hooks/index.ts"

/** The verbs that a change needs. */
export type ReviseVerbs = Pick<Conversation, "history" | "rewind" | "retry" | "send">

const atOnce = 100

const historyOf = async (
  history: ReviseVerbs["history"],
  before: ReadonlyArray<Store.Commit> = []
): Promise<ReadonlyArray<Store.Commit>> => {
  const more = await history({ after: before.at(-1)?.seq ?? 0, limit: atOnce })
  const all = [...before, ...more]
  return more.length < atOnce ? all : historyOf(history, all)
}

/** The number of the newest entry with the first `length` messages of the thread (REVISE1). */
const entryWith = async (chat: ReviseVerbs, length: number): Promise<number> => {
  if (length === 0) return 0
  const commits = await historyOf(chat.history)
  const line = lineOf(commits)
  const found = commits.findLast(
    ({ seq, isStep, kept, messages }) => line.has(seq) && isStep && kept + messages.length === length
  )
  if (found === undefined) throw new Error("The store has no entry to go back to here.")
  return found.seq
}

/** Replaces the user's message at `index` of the thread; what followed it is set aside. */
export const reviseMessage = async (chat: ReviseVerbs, index: number, text: string): Promise<void> => {
  await chat.rewind(await entryWith(chat, index))
  await chat.send(text)
}

/** Runs the user's message at `index` of the thread again. */
export const regenerate = async (chat: ReviseVerbs, index: number): Promise<void> => {
  await chat.rewind(await entryWith(chat, index + 1))
  await chat.retry()
}
