/** The titles of the conversations that the page has seen. A search that leaves some out forgets none. */
import { useCallback, useRef } from "react"

interface Titled {
  readonly id: string
  readonly title: string
}

/** Returns the title of a conversation by its id, with or without its owner. */
export const useTitles = (chats: ReadonlyArray<Titled>): ((chat: string) => string | undefined) => {
  const known = useRef(new Map<string, string>())
  for (const { id, title } of chats) if (title !== "") known.current.set(id, title)
  return useCallback((chat) => known.current.get(chat) ?? known.current.get(chat.slice(chat.indexOf("/") + 1)), [])
}
