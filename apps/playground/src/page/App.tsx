import { useTroupe } from "@troupe/react"
import { Observer } from "@troupe/react/Observer"
import { type ReactNode, useEffect, useState } from "react"
import { Waiting } from "../waiting/index.ts"
import { Chats } from "./Chats.tsx"
import { Cluster } from "./Cluster.tsx"
import { Conversation } from "./Conversation.tsx"
import { control } from "./nodes.ts"
import { hrefOf, newId, usePlace } from "./place.ts"
import { ThemeButton } from "./ThemeButton.tsx"

type Room = "chats" | "chat" | "observer"

const rooms: ReadonlyArray<readonly [Room, string]> = [
  ["chats", "Chats"],
  ["chat", "Chat"],
  ["observer", "Observer"]
]

/** Dollars for a million tokens, for the meter. */
const prices = { input: 1.25, cachedInput: 0.125, output: 10 }

/** Three panes side by side; on a narrow screen one at a time. */
export const App = (): ReactNode => {
  const id = usePlace()
  const [room, setRoom] = useState<Room>("chat")
  useEffect(() => {
    if (id === undefined) location.replace(hrefOf(newId()))
  }, [id])
  if (id === undefined) return null
  return (
    <div className="app" data-room={room}>
      <header className="top">
        <p className="brand">
          Troupe <span>{control === undefined ? "playground" : "cluster"}</span>
        </p>
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
        <Waiting current={id} hrefOf={hrefOf} onChosen={() => setRoom("chat")} />
        <Chats current={id} onChosen={() => setRoom("chat")} />
      </aside>
      <main className="room chat">
        <Conversation key={id} id={id} />
      </main>
      <section className="room observer" aria-label="Observer">
        <Watched id={id} />
      </section>
    </div>
  )
}

const Watched = ({ id }: { readonly id: string }): ReactNode => {
  const troupe = useTroupe()
  return (
    <Observer
      link={troupe.observer}
      chat={troupe.chat(id)}
      prices={prices}
      onFork={(forked) => {
        location.hash = hrefOf(forked)
      }}
    />
  )
}
