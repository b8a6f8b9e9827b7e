/** The entries of a conversation's log. */
import type { Store } from "@troupe/chat/store"
import type { ChatLink } from "@troupe/server/ChatLink"
import { useMemo, useState } from "react"
import { lineOf } from "../../hooks/index.ts"
import { compactedIn, saidIn, standingOf } from "./commitText.ts"
import { count, dayAndTime, timeOfDay } from "../../format/index.ts"
import { ConfirmButton, Surface } from "../parts/index.ts"
import { useLogEntries } from "./logEntries.ts"

/** The props of {@link EventLog}. */
export interface EventLogProps {
  /** The chat whose entries are shown. */
  readonly chat: ChatLink
  /** Called with the id of a chat that was forked here. */
  readonly onFork?: ((id: string) => void) | undefined
  /** Entries on a page. Default: 12. */
  readonly pageSize?: number | undefined
}

/**
 * The log of a conversation, the newest entry first, in pages: the messages of each entry, and buttons that fork or rewind
 * the conversation to that entry. Entries before a rewind that are no longer in use are dimmed.
 */
export const EventLog = ({ chat, onFork, pageSize = 12 }: EventLogProps) => {
  const { commits, isLoading, failure, isWithout, again } = useLogEntries(chat)
  const [page, setPage] = useState(0)
  const [status, setStatus] = useState<string>()
  const line = useMemo(() => lineOf(commits), [commits])
  const pages = Math.max(1, Math.ceil(commits.length / pageSize))
  const at = Math.min(page, pages - 1)
  const shown = commits.toReversed().slice(at * pageSize, (at + 1) * pageSize)

  const fork = async ({ seq }: Store.Commit) => {
    const id = await chat.fork({ at: seq })
    setStatus(`Forked at #${seq}: ${id}`)
    onFork?.(id)
  }
  const rewind = async ({ seq }: Store.Commit) => {
    await chat.rewind(seq)
    setStatus(`Rewound to #${seq}`)
    setPage(0)
    again()
  }

  return (
    <Surface className="tro-log">
      {failure !== undefined && (
        <p role="alert" className="tro-failure">
          {failure}{" "}
          <button type="button" className="tro-button" onClick={again}>
            Try again
          </button>
        </p>
      )}
      <p role="status" className={status === undefined ? "tro-hidden" : "tro-note"}>
        {status}
      </p>
      {commits.length === 0 && failure === undefined && (
        <p className="tro-empty">
          {isWithout ? "The store keeps no log." : isLoading ? "Reading the log…" : "Nothing was kept yet."}
        </p>
      )}
      <ol className="tro-entries" reversed aria-label="Entries, the newest first">
        {shown.map((commit) => (
          <Entry
            key={commit.seq}
            commit={commit}
            isNewest={commit.seq === commits.at(-1)?.seq}
            isOnLine={line.has(commit.seq)}
            onFork={() => fork(commit)}
            onRewind={() => rewind(commit)}
          />
        ))}
      </ol>
      {pages > 1 && (
        <nav className="tro-pager" aria-label="Pages of the log">
          <button type="button" className="tro-button" disabled={at === 0} onClick={() => setPage(at - 1)}>
            Newer
          </button>
          <span className="tro-number">
            {at + 1} / {count(pages)}
          </span>
          <button type="button" className="tro-button" disabled={at === pages - 1} onClick={() => setPage(at + 1)}>
            Older
          </button>
        </nav>
      )}
    </Surface>
  )
}

interface EntryProps {
  readonly commit: Store.Commit
  readonly isNewest: boolean
  readonly isOnLine: boolean
  readonly onFork: () => Promise<void>
  readonly onRewind: () => Promise<void>
}

const Entry = ({ commit, isNewest, isOnLine, onFork, onRewind }: EntryProps) => {
  const { seq, at, kind, isStep } = commit
  const words = saidIn(commit)
  const compacted = compactedIn(commit)
  return (
    <li className="tro-entry" data-off={!isOnLine || undefined} data-kind={kind}>
      <div className="tro-entry-head">
        <span className="tro-seq">#{seq}</span>
        <span className="tro-standing">{standingOf(commit)}</span>
        {!isOnLine && <span className="tro-badge">rewound over</span>}
        <time className="tro-number" title={dayAndTime(at)}>
          {timeOfDay(at)}
        </time>
      </div>
      {compacted !== undefined && <p className="tro-note">{compacted}</p>}
      {words.map(({ who, text }, index) => (
        <p key={index} className="tro-said" data-who={who}>
          <span>{who}</span> {text}
        </p>
      ))}
      {isStep && (
        <div className="tro-actions">
          <ConfirmButton
            label={`Fork at #${seq}`}
            question={`A new chat from #${seq}?`}
            confirm="Fork"
            onConfirm={onFork}
          >
            Fork
          </ConfirmButton>
          {!isNewest && (
            <ConfirmButton
              label={`Rewind to #${seq}`}
              question={`Back to #${seq}?`}
              confirm="Rewind"
              isDangerous
              onConfirm={onRewind}
            >
              Rewind
            </ConfirmButton>
          )}
        </div>
      )}
    </li>
  )
}
