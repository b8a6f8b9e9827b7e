/**
 * The list of chats, as a component shows it.
 *
 * CONVS1. It is asked for when the component appears, page by page, and anew when it is told to.
 * CONVS2. An answer to what is no longer asked for is dropped.
 * LIST3. A failure is shown, and what was listed stays.
 *
 * @module
 */
import type { Store } from "@troupe/chat/store"
import type { ChatLink } from "@troupe/server"
import { useCallback, useEffect, useMemo, useRef, useState } from "react"
import { useTroupe } from "./Provider.ts"

/** Which chats are listed: as the store's list, with `link` for another system than the provider's. */
export interface ConversationsOptions extends Omit<Store.ListOptions, "after"> {
  readonly link?: ChatLink.TroupeLink | undefined
}

/**
 * The chats that are kept, those last written first.
 *
 * - `chats`: as far as they were asked for
 * - `loading`: whether an answer is waited for
 * - `error`: why the last one failed
 * - `refresh`: asks again, from the first page
 * - `more`: asks for the next page; `undefined` when there is none
 * - `remove`: deletes a chat
 */
export interface Conversations {
  readonly chats: ReadonlyArray<Store.ChatSummary>
  readonly loading: boolean
  readonly error: Error | undefined
  readonly refresh: () => Promise<void>
  readonly more: (() => Promise<void>) | undefined
  readonly remove: (id: string) => Promise<void>
}

interface Listed {
  readonly chats: ReadonlyArray<Store.ChatSummary>
  readonly next: string | undefined
  readonly loading: boolean
  readonly error: Error | undefined
}

const nothing: Listed = { chats: [], next: undefined, loading: true, error: undefined }

/**
 * Lists the chats that are kept.
 *
 * **Details**: asked for when the component appears and when what is asked for changes. The list does not follow the chats:
 * `refresh` asks again, as after a turn.
 */
export const useChats = ({ link, prefix, search, limit }: ConversationsOptions = {}): Conversations => {
  const troupe = useTroupe(link)
  const [listed, setListed] = useState(nothing)
  const asked = useRef<object | undefined>(undefined)

  const ask = useCallback(
    async (after?: string): Promise<void> => {
      const question = {}
      asked.current = question
      setListed((before) => (before.loading ? before : { ...before, loading: true }))
      const answer = await listOf(troupe, { prefix, search, limit, after })
      if (asked.current !== question) return
      setListed((before) =>
        answer instanceof Error
          ? { ...before, loading: false, error: answer }
          : {
              chats: after === undefined ? answer.chats : [...before.chats, ...answer.chats],
              next: answer.next,
              loading: false,
              error: undefined
            }
      )
    },
    [troupe, prefix, search, limit]
  )

  useEffect(() => {
    void ask()
    return () => {
      asked.current = undefined
    }
  }, [ask])

  const refresh = useCallback(() => ask(), [ask])
  const { chats, next, loading, error } = listed
  return useMemo(
    () => ({
      chats,
      loading,
      error,
      refresh,
      more: next === undefined ? undefined : () => ask(next),
      remove: async (id) => {
        await troupe.remove(id)
        await ask()
      }
    }),
    [chats, next, loading, error, ask, refresh, troupe]
  )
}

const listOf = async (troupe: ChatLink.TroupeLink, options: Store.ListOptions): Promise<Store.ChatList | Error> => {
  try {
    return await troupe.list(options)
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error), { cause: error })
  }
}
