/** The list of chats. */
import { type ReactNode, useEffect, useRef, useState } from "react"
import * as Clock from "@troupe/otp/clock"
import { age, plural } from "../../format/index.ts"
import type { Conversations } from "../../hooks/index.ts"
import { Button, classOf, Fault, Icon, type PartProps, useAttempt } from "../parts/index.ts"

/** One row of `useChats`: id, title, times, and whether a turn runs. */
export type ListedChat = Conversations["chats"][number]

/** The props of {@link ChatList}. */
export interface ChatListProps extends PartProps {
  /** The list, as `useChats` returns it. */
  readonly list: Conversations
  /** The address of a chat. */
  readonly hrefOf: (id: string) => string
  /** The id of the chat that is open. */
  readonly current?: string | undefined
  /** The text of the search: the `search` of `useChats`. Default: no text. */
  readonly search?: string | undefined
  /** Called when the text of the search changes. Default: there is no field for it. */
  readonly onSearch?: ((text: string) => void) | undefined
  /** Called with the id of a chat that a person opens. */
  readonly onOpen?: ((id: string) => void) | undefined
  /** Called with the id of a chat that was deleted. */
  readonly onRemoved?: ((id: string) => void) | undefined
  /** The clock that the ages are of. Default: the host's. */
  readonly clock?: Clock.Clock | undefined
  /** Renders a row. */
  readonly children?: ((chat: ListedChat) => ReactNode) | undefined
}

/** The title of a chat for people. */
const titleOf = ({ title }: Pick<ListedChat, "title">): string => (title === "" ? "Nothing said yet" : title)

/** The stored chats, the last written first: search, open, delete after a question. */
export const ChatList = (props: ChatListProps): ReactNode => {
  const { list, hrefOf, current, search, onSearch, onOpen, onRemoved, clock = Clock.live, children, className } = props
  const { chats, loading, error, more, remove } = list
  const [asked, setAsked] = useState<string>()
  const { fault, attempt } = useAttempt()
  const erase = async (id: string): Promise<void> => {
    setAsked(undefined)
    if (await attempt(() => remove(id))) onRemoved?.(id)
  }
  return (
    <nav className={classOf("chats", { className })} aria-label="Chats">
      {onSearch === undefined ? null : (
        <label className="troupe-search">
          <span className="troupe-hidden">Search chats</span>
          <Icon name="search" />
          <input
            type="search"
            placeholder="Search"
            value={search ?? ""}
            onChange={(event) => onSearch(event.target.value)}
          />
        </label>
      )}
      <Fault fault={fault ?? error?.message} />
      {chats.length === 0 && !loading && error === undefined ? (
        <p className="troupe-empty">
          {search === undefined || search === "" ? "No chats yet." : "No chat has this text."}
        </p>
      ) : null}
      <ul>
        {chats.map((chat) => (
          <li key={chat.id} data-current={chat.id === current || undefined} data-work={workIn(chat)}>
            {asked === chat.id ? (
              <Erase title={titleOf(chat)} onKeep={() => setAsked(undefined)} onErase={() => void erase(chat.id)} />
            ) : (
              <>
                <a
                  href={hrefOf(chat.id)}
                  aria-current={chat.id === current ? "page" : undefined}
                  title={titleOf(chat)}
                  onClick={() => onOpen?.(chat.id)}
                >
                  {children?.(chat) ?? <Row chat={chat} now={clock.now()} />}
                </a>
                <Button
                  tone="quiet"
                  icon="remove"
                  label={`Delete ${titleOf(chat)}`}
                  onClick={() => setAsked(chat.id)}
                />
              </>
            )}
          </li>
        ))}
      </ul>
      {more === undefined ? null : (
        <Button tone="quiet" onClick={() => void more()}>
          More
        </Button>
      )}
    </nav>
  )
}

const workIn = ({ running, waiting }: ListedChat): string => (waiting > 0 ? "waiting" : running ? "running" : "idle")

const Row = ({ chat, now }: { readonly chat: ListedChat; readonly now: number }) => (
  <>
    <span className="troupe-dot" aria-hidden />
    <span className="troupe-title">{titleOf(chat)}</span>
    <span className="troupe-note">
      {plural(chat.messages, "message")} · {age(now - chat.updatedAt)}
    </span>
  </>
)

interface EraseProps {
  readonly title: string
  readonly onErase: () => void
  readonly onKeep: () => void
}

/** Asks once more, in the row, so that nothing else moves. */
const Erase = ({ title, onErase, onKeep }: EraseProps) => {
  const keep = useRef<HTMLButtonElement>(null)
  useEffect(() => keep.current?.focus(), [])
  return (
    <div
      className="troupe-buttons"
      role="group"
      aria-label={`Delete ${title} for good?`}
      onKeyDown={(event) => {
        if (event.key === "Escape") onKeep()
      }}
    >
      <Button tone="danger" onClick={onErase}>
        Delete for good
      </Button>
      <Button button={keep} onClick={onKeep}>
        Keep
      </Button>
    </div>
  )
}
