/**
 * The hook for the list of chats.
 *
 * @module
 */
import type { Store } from "@troupe/chat/store"
import type { ChatLink } from "@troupe/server"
import { useCallback, useMemo } from "react"
import { usePages } from "./pages.ts"
import { useTroupe } from "./Provider.ts"

/** The filter of the list, as in the store's list. */
export interface ConversationsOptions extends Omit<Store.ListOptions, "after"> {
  /** The Troupe or the server of the conversations. Default: that of the provider. */
  readonly link?: ChatLink.TroupeLink | undefined
}

/** The stored chats, the most recently written first. */
export interface Conversations {
  /** The pages so far. */
  readonly chats: Store.ChatList["chats"]
  /** Whether a request is pending. */
  readonly loading: boolean
  /** Why the last request failed. */
  readonly error: Error | undefined
  /** Loads the list again, from the first page. */
  readonly refresh: () => Promise<void>
  /** Loads the next page; `undefined` when there is none. */
  readonly more: (() => Promise<void>) | undefined
  /** Deletes a chat. */
  readonly remove: (id: string) => Promise<void>
}

/**
 * Lists the stored chats.
 *
 * **Details**: the list is requested when the component mounts and when the options change. It does not follow the chats:
 * call `refresh`, for example after a turn.
 */
export const useChats = ({ link, prefix, search, limit }: ConversationsOptions = {}): Conversations => {
  const troupe = useTroupe(link)
  const page = useCallback(
    async (after: string | undefined) => {
      const { chats, next } = await troupe.list({ prefix, search, limit, after })
      return { items: chats, next }
    },
    [troupe, prefix, search, limit]
  )
  const { items: chats, loading, error, refresh, more } = usePages(page)
  return useMemo(
    () => ({
      chats,
      loading,
      error,
      refresh,
      more,
      remove: async (id) => {
        await troupe.remove(id)
        await refresh()
      }
    }),
    [chats, loading, error, refresh, more, troupe]
  )
}
