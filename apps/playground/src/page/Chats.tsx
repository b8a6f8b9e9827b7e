import { useChats, useSnapshot, useTroupe } from "@troupe/react"
import { type ReactNode, useEffect, useState } from "react"
import { hrefOf, newId } from "./place.ts"

/** The list of conversations: search, open, create, delete. */
export const Chats = ({
  current,
  onChosen
}: {
  readonly current: string
  readonly onChosen: () => void
}): ReactNode => {
  const [search, setSearch] = useState("")
  const [refused, setRefused] = useState<string>()
  const { chats, error, remove, refresh, more } = useChats(search === "" ? {} : { search })
  const said = useSnapshot(useTroupe().chat(current), ({ view }) => view.messages.length)
  useEffect(() => {
    void refresh()
  }, [said, refresh])
  const forget = async (id: string): Promise<void> => {
    setRefused(undefined)
    try {
      await remove(id)
    } catch (refusal) {
      setRefused(refusal instanceof Error ? refusal.message : String(refusal))
      return
    }
    if (id === current) location.hash = hrefOf(newId())
  }
  return (
    <>
      <a className="button new" href={hrefOf(newId())} onClick={onChosen}>
        New chat
      </a>
      <label className="search">
        <span className="hidden">Search conversations</span>
        <input type="search" placeholder="Search" value={search} onChange={(event) => setSearch(event.target.value)} />
      </label>
      {refused === undefined && error === undefined ? null : <p role="alert">{refused ?? error?.message}</p>}
      <ul className="list">
        {chats.map((chat) => (
          <li key={chat.id} data-current={chat.id === current}>
            <a href={hrefOf(chat.id)} aria-current={chat.id === current ? "page" : undefined} onClick={onChosen}>
              <strong>{chat.title === "" ? "Nothing said yet" : chat.title}</strong>
              <small>{chat.messages === 1 ? "1 message" : `${chat.messages} messages`}</small>
            </a>
            <button
              type="button"
              className="quiet"
              aria-label={`Delete ${chat.title}`}
              onClick={() => {
                if (confirm(`Delete "${chat.title}"? This cannot be undone.`)) void forget(chat.id)
              }}
            >
              ×
            </button>
          </li>
        ))}
      </ul>
      {more === undefined ? null : (
        <button type="button" className="quiet" onClick={() => void more()}>
          More
        </button>
      )}
    </>
  )
}
