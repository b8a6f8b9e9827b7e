/**
 * The hook for what the chats wait for.
 *
 * WAITING1. The list is requested when the component mounts, again `pollMs` after each answer, and after each decision. With the component
 *           unmounted, or `pollMs: Infinity`, there is no timer.
 * WAITING2. A decision that came second rejects with the server's error, which has what was decided; the list is read again.
 *
 * @module
 */
import type { Store } from "@troupe/chat/store"
import type { Decision } from "@troupe/chat/tools"
import * as Clock from "@troupe/otp/clock"
import type { ChatLink } from "@troupe/server"
import { useCallback, useEffect, useMemo } from "react"
import { usePages } from "./pages.ts"
import { useTroupe } from "./Provider.ts"

/** The filter of the list, as in the store's list, and how often it is read. */
export interface WaitingOptions extends Omit<Store.Lists.WaitOptions, "after"> {
  /** The Troupe or the server of the conversations. Default: that of the provider. */
  readonly link?: ChatLink.TroupeLink | undefined
  /** How often the list is read, in milliseconds. Default: 5,000. */
  readonly pollMs?: number | undefined
  /** The clock between two reads. Default: the host's. */
  readonly clock?: Clock.Clock | undefined
}

/** What the chats wait for, the oldest first. */
export interface Waiting {
  /** The pages so far. */
  readonly waits: ReadonlyArray<Store.Lists.Wait>
  /** Whether a request is pending. */
  readonly loading: boolean
  /** Why the last request failed. */
  readonly error: Error | undefined
  /** Loads the list again, from the first page. */
  readonly refresh: () => Promise<void>
  /** Loads the next page; `undefined` when there is none. */
  readonly more: (() => Promise<void>) | undefined
  /** Decides about the call of a wait, of the kind `approval` or `unknown_outcome`. */
  readonly approve: (wait: Store.Lists.Wait, decision: Decision) => Promise<void>
  /** Answers a question, or gives the result of a call that waits for one. */
  readonly answer: (wait: Store.Lists.Wait, answer: string) => Promise<void>
}

/** The answer of a wait. That of a sub-agent has an address as its id, and a decision gives its answer. */
const answersOf = (
  { kind, toolCallId }: Store.Lists.Wait,
  answer: string
): Parameters<ChatLink.ChatLink["answer"]>[0] => {
  if (toolCallId.includes("/~/")) return { decisions: { [toolCallId]: { type: "result", value: answer } } }
  return kind === "question" ? { input: answer } : { results: { [toolCallId]: answer } }
}

/** The most waits that a server lists on a page. */
const most = 1_000

/** Lists what the stored chats wait for, and answers it. */
export const useWaiting = (options: WaitingOptions = {}): Waiting => {
  const { link, owner, kind, agent, limit = 50, pollMs = 5_000, clock = Clock.live } = options
  const troupe = useTroupe(link)
  const page = useCallback(
    async (after: string | undefined, loaded: number) => {
      const count = after === undefined ? Math.min(most, Math.max(limit, loaded)) : limit
      const { waits, next } = await troupe.waiting({ owner, kind, agent, limit: count, after })
      return { items: waits, next }
    },
    [troupe, owner, kind, agent, limit]
  )
  const { items: waits, loading, error, refresh, more } = usePages(page)

  useEffect(() => {
    if (loading || pollMs === Infinity) return undefined
    const timer = clock.setTimeout(() => void refresh(), pollMs)
    return () => clock.clearTimeout(timer)
  }, [loading, waits, pollMs, clock, refresh])

  return useMemo(() => {
    const deciding = async (work: Promise<void>): Promise<void> => {
      try {
        await work
      } finally {
        await refresh()
      }
    }
    return {
      waits,
      loading,
      error,
      refresh,
      more,
      approve: (wait, decision) => deciding(troupe.chat(wait.chat).approve(wait.toolCallId, decision)),
      answer: (wait, answer) => deciding(troupe.chat(wait.chat).answer(answersOf(wait, answer)))
    }
  }, [waits, loading, error, refresh, more, troupe])
}
