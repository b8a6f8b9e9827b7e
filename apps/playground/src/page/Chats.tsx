import { useChats, useSnapshot, useTroupe } from "@troupe/react"
import { type ReactNode, useEffect, useState } from "react"
import { hrefOf, newId } from "./place.ts"

/** The conversations there are: search, open, begin, delete. */
export const Chats = ({
  current,
  onChosen
}: {
  readonly current: string
  readonly onChosen: () => void
}): ReactNode => {
  const [search, setSearch] = useState("")
  const { chats, error, remove, refresh } = useChats(search === "" ? {} : { search })
  const said = useSnapshot(useTroupe().chat(current), ({ view }) => view.messages.length)
  useEffect(() => {
    void refresh()
  }, [said, refresh])
  return (
    <>
      <a className="button new" href={hrefOf(newId())} onClick={onChosen}>
        New chat
      </a>
      <label className="search">
        <span className="hidden">Search conversations</span>
        <input type="search" placeholder="Search" value={search} onChange={(event) => setSearch(event.target.value)} />
      </label>
      {error === undefined ? null : <p role="alert">{error.message}</p>}
      <ul className="list">
        {chats.map((chat) => (
          <li key={chat.id} data-current={chat.id === current}>
            <a href={hrefOf(chat.id)} aria-current={chat.id === current ? "page" : undefined} onClick={onChosen}>
              <strong>{chat.title === "" ? "Nothing said yet" : chat.title}</strong>
              <small>{chat.messages} messages</small>
            </a>
            <button
              type="button"
              className="quiet"
              aria-label={`Delete ${chat.title}`}
              onClick={() => {
                if (confirm(`Delete "${chat.title}"? This cannot be undone.`)) void remove(chat.id)
              }}
            >
              ×
            </button>
          </li>
        ))}
      </ul>
    </>
  )
}
