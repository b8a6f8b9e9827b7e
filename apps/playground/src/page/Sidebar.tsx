import { type Conversations, useWaiting } from "@troupe/react"
import { ChatList, Inbox } from "@troupe/react/ui"
import type { ReactNode } from "react"
import { Memories } from "./Memories.tsx"
import { control } from "./nodes.ts"
import { hrefOf, newHref } from "./place.ts"

/** How often the inbox is read. */
const pollMs = 2_000

interface SidebarProps {
  readonly current: string | undefined
  readonly list: Conversations
  readonly search: string
  readonly onSearch: (text: string) => void
  readonly titleOf: (chat: string) => string | undefined
  readonly onOpen: () => void
}

/** The button for a new chat, the list of chats, the inbox, and the memories. Each has a place of a fixed size, so that none moves another. */
export const Sidebar = ({ current, list, search, onSearch, titleOf, onOpen }: SidebarProps): ReactNode => {
  const waiting = useWaiting({ pollMs })
  return (
    <>
      <a className="button" href={newHref} onClick={onOpen}>
        New chat
      </a>
      <ChatList
        list={list}
        current={current}
        hrefOf={hrefOf}
        search={search}
        onSearch={onSearch}
        onOpen={onOpen}
        onRemoved={(id) => {
          if (id === current) location.hash = newHref
        }}
      />
      <Inbox waiting={waiting} titleOf={titleOf} hrefOf={hrefOf} current={current} onOpen={onOpen} />
      {control === undefined ? <Memories /> : null}
    </>
  )
}
