/**
 * The hook for the list of chats.
 *
 * CONVS1. The list is requested when the component mounts, page by page, and again on `refresh`.
 * CONVS2. An answer to an outdated request is discarded.
 * LIST3. A failure is shown, and the list stays.
 *
 * @module
 */
import type { Store } from "@troupe/chat/store"
import type { ChatLink } from "@troupe/server"
import { useCallback, useEffect, useMemo, useRef, useState } from "react"
import { useTroupe } from "./Provider.ts"

/** The filter of the list, as in the store's list. `link` is a system other than the provider's. */
export interface ConversationsOptions extends Omit<Store.ListOptions, "after"> {
  readonly link?: ChatLink.TroupeLink | undefined
}

/**
 * The stored chats, the most recently written first.
 *
 * - `chats`: the pages so far
 * - `loading`: whether a request is pending
 * - `error`: why the last request failed
 * - `refresh`: loads the list again, from the first page
 * - `more`: loads the next page; `undefined` when there is none
 * - `remove`: deletes a chat
 */
export interface Conversations {
  readonly chats: Store.ChatList["chats"]
  readonly loading: boolean
  readonly error: Error | undefined
  readonly refresh: () => Promise<void>
  readonly more: (() => Promise<void>) | undefined
  readonly remove: (id: string) => Promise<void>
}

interface Listed {
  readonly chats: Store.ChatList["chats"]
  readonly next: string | undefined
  readonly loading: boolean
  readonly error: Error | undefined
}

const nothing: Listed = { chats: [], next: undefined, loading: true, error: undefined }

/**
 * Lists the stored chats.
 *
 * **Details**: the list is requested when the component mounts and when the options change. It does not follow the chats:
 * call `refresh`, for example after a turn.
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
