/**
 * The supervision tree, live.
 *
 * Owns: the closed rows, and the row with the keyboard focus.
 *
 * OBS3. When the process of the focused row ends, the nearest remaining row above it gets the focus.
 */
import type { Observation } from "@troupe/chat/observe"
import type { ObserverLink } from "@troupe/server/ChatLink"
import { type CSSProperties, type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from "react"
import { bytes, count, nameOfAgent, plural } from "../../format/index.ts"
import { Surface, useTrouble, useWatched } from "../parts/index.ts"
import { reveal } from "./reveal.ts"
import { titledLabel } from "./titledLabel.ts"
import { type ShownRow, useGhosts } from "./treeGhosts.ts"
import { processWork, type Work } from "./work.ts"
import { moveOf, rowsOf, typedTo } from "./treeRows.ts"

/** The props of {@link ProcessTree}. */
export interface ProcessTreeProps {
  /** The observer that has the processes. */
  readonly link: ObserverLink
  /** The selected pid. */
  readonly selected?: string | undefined
  /** Called with the pid of a process that is clicked. */
  readonly onSelect?: ((id: string) => void) | undefined
  /** Leaves the selected process: called for the key Escape. */
  readonly onLeave?: (() => void) | undefined
  /** The title of a chat by its id, in place of the label of its process. Default: labels stay. */
  readonly titleOf?: ((chat: string) => string | undefined) | undefined
  /** What the work of processes is, and the main arguments of their calls, by pid. Default: whether they work. */
  readonly works?: ReadonlyMap<string, Work> | undefined
  /** A pid to highlight: a restarted process. */
  readonly highlighted?: string | undefined
}

/** A pause after which a typed letter begins a new word, in milliseconds. */
const wordPause = 700

/**
 * The live processes by parent: status, waiting messages, restarts and memory. New rows fade in, ended ones fade out.
 *
 * **Details**: a `tree` of WAI-ARIA: arrow keys, Home, End, `*`, and letters move through it, Enter selects.
 */
export const ProcessTree = ({ link, ...props }: ProcessTreeProps) => {
  const observed = useWatched(link.tree)
  const trouble = useTrouble(link.tree)
  return (
    <Surface className="tro-tree">
      {trouble !== undefined && (
        <p className="tro-trouble" role="alert">
          {observed === undefined ? "Nothing can be seen" : "This is what was seen last"}: {trouble.message}
        </p>
      )}
      {observed === undefined ? (
        trouble === undefined && (
          <p className="tro-empty" role="status">
            Waiting for the first look at the system…
          </p>
        )
      ) : (
        <Tree observed={observed} {...props} />
      )}
    </Surface>
  )
}

const Tree = (props: Omit<ProcessTreeProps, "link"> & { readonly observed: Observation.Observed }) => {
  const { observed, selected, onSelect, onLeave, highlighted, titleOf, works } = props
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set())
  const [focused, setFocused] = useState<string>()
  const typed = useRef({ word: "", at: 0 })
  const list = useRef<HTMLUListElement>(null)
  const rows = rowsOf(observed.tree, closed)
  const { shown, faded, isNew } = useGhosts(observed.tree, rows)
  const has = (id: string | undefined) => rows.some((row) => row.node.id === id)
  const stop = has(focused) ? focused : has(selected) ? selected : rows[0]?.node.id
  const rowOf = (id: string) =>
    Array.from(list.current?.querySelectorAll<HTMLElement>("[data-id]") ?? []).find((row) => row.dataset["id"] === id)

  // The selected row is scrolled into view once: the reader may scroll on from there.
  const isThere = has(selected)
  useEffect(() => {
    const row = selected === undefined || !isThere ? undefined : rowOf(selected)
    if (row !== undefined) reveal(row)
  }, [selected, isThere])

  const focus = (id: string) => {
    setFocused(id)
    rowOf(id)?.focus()
  }
  // OBS3. React fires no blur event for a focused row that it removes, so each render compares the rows.
  const hasFocus = useRef(false)
  const before = useRef(rows)
  useLayoutEffect(() => {
    const last = before.current
    before.current = rows
    if (!hasFocus.current || focused === undefined || has(focused)) return
    const index = last.findIndex(({ node }) => node.id === focused)
    const nearest = last.slice(0, Math.max(0, index)).findLast(({ node }) => has(node.id)) ?? rows[0]
    if (nearest !== undefined) focus(nearest.node.id)
  })

  const turn = (ids: ReadonlyArray<string>, isOpen: boolean) =>
    setClosed((now) => new Set([...[...now].filter((id) => !ids.includes(id)), ...(isOpen ? [] : ids)]))

  const keyPressed = (event: KeyboardEvent, id: string) => {
    const { key } = event
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (key === "Enter" || key === " ") {
      event.preventDefault()
      return onSelect?.(id)
    }
    if (key === "Escape") return onLeave?.()
    const move = moveOf(key, rows, id, closed)
    if (move !== undefined) {
      event.preventDefault()
      return move.type === "focus" ? focus(move.id) : turn(move.ids, move.type === "open")
    }
    if (key.length !== 1 || key === "*") return
    const isSameWord = event.timeStamp - typed.current.at < wordPause
    typed.current = { word: isSameWord ? typed.current.word + key : key, at: event.timeStamp }
    const found = typedTo(typed.current.word, rows, id)
    if (found !== undefined) focus(found)
  }

  return (
    <>
      <ul
        ref={list}
        role="tree"
        aria-label="Processes"
        className="tro-rows"
        onFocus={() => {
          hasFocus.current = true
        }}
        onBlur={() => {
          hasFocus.current = false
        }}
      >
        {shown.map((row) => {
          const { id } = row.node
          return (
            <Row
              key={row.isGhost ? `gone ${id}` : id}
              row={row}
              isOpen={!closed.has(id)}
              naming={{ titleOf, works }}
              isStop={id === stop}
              isSelected={id === selected}
              isNew={isNew(id)}
              isBack={id === highlighted}
              onFaded={() => faded(id)}
              onKey={(event) => keyPressed(event, id)}
              onFocus={() => setFocused(id)}
              onSelect={() => onSelect?.(id)}
              onTurn={() => turn([id], closed.has(id))}
            />
          )
        })}
      </ul>
      {observed.processes > rows.length && closed.size === 0 && (
        <p className="tro-note">
          {count(rows.length)} of {count(observed.processes)} processes shown
        </p>
      )}
    </>
  )
}

type Naming = Pick<ProcessTreeProps, "titleOf" | "works">

interface RowProps {
  readonly row: ShownRow
  readonly naming: Naming
  readonly isOpen: boolean
  readonly isStop: boolean
  readonly isSelected: boolean
  readonly isNew: boolean
  readonly isBack: boolean
  readonly onFaded: () => void
  readonly onKey: (event: KeyboardEvent) => void
  readonly onFocus: () => void
  readonly onSelect: () => void
  readonly onTurn: () => void
}

const Row = ({ row, naming, isOpen, isStop, isSelected, isNew, isBack, ...on }: RowProps) => {
  const { node, level, setSize, position, isGhost } = row
  const isParent = node.children.length > 0
  const style: CSSProperties & { readonly "--level": number } = { "--level": level - 1 }
  if (isGhost) {
    return (
      <li role="none" aria-hidden className="tro-row" data-gone style={style} onAnimationEnd={on.onFaded}>
        <Cells node={node} naming={naming} isParent={false} />
      </li>
    )
  }
  return (
    <li
      role="treeitem"
      className="tro-row"
      style={style}
      data-id={node.id}
      data-new={isNew || undefined}
      data-back={isBack || undefined}
      aria-level={level}
      aria-setsize={setSize}
      aria-posinset={position}
      aria-selected={isSelected}
      {...(isParent ? { "aria-expanded": isOpen } : {})}
      tabIndex={isStop ? 0 : -1}
      onKeyDown={on.onKey}
      onFocus={on.onFocus}
      onClick={on.onSelect}
    >
      <Cells node={node} naming={naming} isParent={isParent} isBack={isBack} onTurn={on.onTurn} />
    </li>
  )
}

interface CellsProps {
  readonly node: Observation.ProcessNode
  readonly naming: Naming
  readonly isParent: boolean
  readonly isBack?: boolean
  readonly onTurn?: () => void
}

/** Which agent sent the last message; the title has the newest ones. */
const MessageBadge = ({ messages }: { readonly messages: NonNullable<Observation.ProcessNode["agentMessages"]> }) => {
  const lines = messages.map(
    ({ from, kind, text }) => `${nameOfAgent(from)} ${kind === "ask" ? "asks" : "tells"}: ${text}`
  )
  return (
    <span className="tro-badge" data-tone="accent" title={lines.join("\n")}>
      {lines.at(-1)}
    </span>
  )
}

const Cells = ({ node, naming, isParent, isBack = false, onTurn }: CellsProps) => {
  const work = naming.works?.get(node.id) ?? processWork(node)
  const state = node.status === "suspended" ? node.status : work.state
  return (
    <>
      <span
        className="tro-twist"
        aria-hidden
        data-parent={isParent || undefined}
        onClick={(event) => {
          if (!isParent) return
          event.stopPropagation()
          onTurn?.()
        }}
      />
      <span className="tro-dot" data-work={state} aria-hidden />
      <span className="tro-label" title={node.label}>
        {titledLabel(node, naming.titleOf)}
        {work.about !== undefined && <span className="tro-name"> {work.about}</span>}
        {node.name !== undefined && node.name !== node.label && <span className="tro-name"> {node.name}</span>}
      </span>
      {node.agentMessages?.at(-1) !== undefined && <MessageBadge messages={node.agentMessages} />}
      {isBack && (
        <span className="tro-badge" data-tone="good">
          back
        </span>
      )}
      {node.hidden !== undefined && node.hidden > 0 && <span className="tro-badge">+{count(node.hidden)}</span>}
      {node.queueLength > 0 && (
        <span className="tro-badge" title={plural(node.queueLength, "waiting message")}>
          {count(node.queueLength)}
          <span className="tro-hidden"> waiting</span>
        </span>
      )}
      {node.restarts !== undefined && node.restarts > 0 && (
        <span className="tro-badge" data-tone="warn" title={plural(node.restarts, "restart")}>
          {count(node.restarts)}
          <span aria-hidden> ↻</span>
          <span className="tro-hidden"> restarts</span>
        </span>
      )}
      <span className={state === "idle" ? "tro-hidden" : "tro-status"} data-work={state}>
        {state}
      </span>
      <span className="tro-memory">{bytes(node.memory)}</span>
    </>
  )
}
