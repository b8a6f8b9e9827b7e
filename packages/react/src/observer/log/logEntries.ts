/** The log of a conversation as it grows. Entries never change: each is requested once. */
import type { Store } from "@troupe/chat/store"
import type { ChatLink } from "@troupe/server/ChatLink"
import { useEffect, useState, useSyncExternalStore } from "react"

/** The loaded part of a log. */
export interface LogEntries {
  readonly commits: ReadonlyArray<Store.Commit>
  readonly isLoading: boolean
  readonly failure: string | undefined
  /** The store keeps no log: there is nothing to show. */
  readonly isWithout: boolean
  /** Checks for new entries now. */
  readonly again: () => void
}

type Known = Omit<LogEntries, "again">

const atOnce = 100

const nothing: Known = { commits: [], isLoading: true, failure: undefined, isWithout: false }

/**
 * The state after a refusal. A chat without messages is not an error. Local and remote errors have the reason in different
 * fields.
 */
const refusal = (error: unknown): Omit<Known, "commits"> => {
  const why = error instanceof Error ? (Reflect.get(error, "reason") ?? Reflect.get(error, "code")) : undefined
  const isWithout = why === "store_without_log"
  const failure = error instanceof Error ? error.message : String(error)
  return { isLoading: false, isWithout, failure: isWithout || why === "unknown_chat" ? undefined : failure }
}

/**
 * All entries, the oldest first. When the chat's thread or phase changes, or a call of it ends, the new entries are
 * requested.
 *
 * 1. A look requests the entries after the newest one it has, until there is no more.
 * 2. When the chat changes meanwhile, another look starts from the entries loaded so far. The earlier look ends at its next
 *    answer.
 */
export const useLogEntries = (chat: ChatLink): LogEntries => {
  const [known, setKnown] = useState({ chat, ...nothing })
  const log = known.chat === chat ? known : { chat, ...nothing }
  const { view } = useSyncExternalStore(chat.subscribe, chat.getState, chat.getState)
  const { messages, phase, toolCalls } = view
  const settled = toolCalls.filter(({ status }) => status === "done").length
  const [turned, setTurned] = useState(0)
  useEffect(() => {
    let isOver = false
    // A chat without messages is not stored, so it is not requested.
    if (messages.length === 0 && log.commits.length === 0) return
    const look = async (commits: ReadonlyArray<Store.Commit>) => {
      const more = await chat.history({ after: commits.at(-1)?.seq ?? 0, limit: atOnce })
      if (isOver) return
      const all = [...commits, ...more]
      const isLoading = more.length === atOnce
      setKnown({ chat, commits: all, isLoading, failure: undefined, isWithout: false })
      if (isLoading) await look(all)
    }
    look(log.commits).catch((error: unknown) => {
      if (isOver) return
      setKnown((now) => ({ ...(now.chat === chat ? now : { chat, ...nothing }), ...refusal(error) }))
    })
    return () => {
      isOver = true
    }
  }, [chat, messages, phase, settled, turned])
  const isLoading = log.isLoading && messages.length > 0
  return { ...log, isLoading, again: () => setTurned((count) => count + 1) }
}
