import { useChats, useTroupe } from "@troupe/react"
import { Observer } from "@troupe/react/Observer"
import { type ReactNode, useCallback, useState } from "react"
import { Cluster } from "./Cluster.tsx"
import { NewChat } from "./NewChat.tsx"
import { control } from "./nodes.ts"
import { OpenChat } from "./OpenChat.tsx"
import { hrefOf, usePlace } from "./place.ts"
import { Sidebar } from "./Sidebar.tsx"
import { ThemeButton } from "./ThemeButton.tsx"
import { useTitles } from "./titles.ts"

type Room = "chats" | "chat" | "observer"

const rooms: ReadonlyArray<readonly [Room, string]> = [
  ["chats", "Chats"],
  ["chat", "Chat"],
  ["observer", "Observer"]
]

/** Dollars for a million tokens, for the meter. */
const prices = { input: 1.25, cachedInput: 0.125, output: 10 }

/** Three panes side by side; on a narrow screen one at a time. A page without a conversation in its address starts no process. */
export const App = (): ReactNode => {
  const id = usePlace()
  const [room, setRoom] = useState<Room>("chat")
  const [search, setSearch] = useState("")
  const list = useChats(search === "" ? {} : { search })
  const titleOf = useTitles(list.chats)
  const opened = (): void => setRoom("chat")
  return (
    <div className="app" data-room={room} data-cluster={control !== undefined || undefined}>
      <header className="top">
        <p className="brand">
          <Mark />
          Troupe <span>{control === undefined ? "playground" : "cluster"}</span>
        </p>
        <p className="title">{id === undefined ? "New chat" : (titleOf(id) ?? "New chat")}</p>
        <a className="plain-link" href={docs} target="_blank" rel="noreferrer">
          Docs
        </a>
        <ThemeButton />
        {control === undefined ? null : <Cluster url={control} chat={id} />}
      </header>
      <nav className="rooms" aria-label="Rooms">
        {rooms.map(([name, label]) => (
          <button key={name} type="button" aria-pressed={room === name} onClick={() => setRoom(name)}>
            {label}
          </button>
        ))}
      </nav>
      <aside className="room chats" aria-label="Conversations">
        <Sidebar current={id} list={list} search={search} onSearch={setSearch} titleOf={titleOf} onOpen={opened} />
      </aside>
      <main className="room chat">
        {id === undefined ? <NewChat /> : <OpenChat key={id} id={id} onSettled={list.refresh} />}
      </main>
      <section className="room observer" aria-label="Observer">
        <Watched id={id} titleOf={titleOf} />
      </section>
    </div>
  )
}

/** The documentation, as the server of the page names it. */
const docs = document.querySelector<HTMLMetaElement>('meta[name="troupe-docs"]')?.content ?? ""

const Mark = (): ReactNode => (
  <svg viewBox="0 0 20 20" aria-hidden="true">
    <circle cx="10" cy="4" r="3" />
    <circle cx="4" cy="15" r="3" />
    <circle cx="16" cy="15" r="3" />
    <path d="M10 7v3M10 10 5.5 12.4M10 10l4.500 2.400" />
  </svg>
)

interface WatchedProps {
  readonly id: string | undefined
  readonly titleOf: (chat: string) => string | undefined
}

const Watched = ({ id, titleOf }: WatchedProps): ReactNode => {
  const troupe = useTroupe()
  // A conversation has its title with its first message.
  const named = useCallback((chat: string) => titleOf(chat) ?? (chat === id ? "New chat" : undefined), [id, titleOf])
  return (
    <Observer
      link={troupe.observer}
      chat={id === undefined ? undefined : troupe.chat(id)}
      titleOf={named}
      prices={prices}
      onFork={(forked) => {
        location.hash = hrefOf(forked)
      }}
    />
  )
}
