/** The nodes of a cluster, of which one is shown. */
import type { NodeStatus } from "@troupe/server/ChatLink"
import { type KeyboardEvent, useRef } from "react"
import { count, plural } from "../../format/index.ts"
import { keyedChoice } from "../parts/index.ts"

interface NodeListProps {
  readonly nodes: ReadonlyArray<NodeStatus>
  /** The address of the node that is shown. */
  readonly shown: string
  readonly onChoose: (node: string) => void
}

const tones: { readonly [State in NodeStatus["state"]]: string } = {
  alive: "good",
  draining: "warn",
  silent: "bad",
  gone: "bad"
}

const factsOf = ({ role, buckets, epoch, chats }: NodeStatus): string =>
  [
    role,
    ...(buckets === undefined || role === "gateway" ? [] : [plural(buckets, "bucket"), `epoch ${count(epoch ?? 0)}`]),
    ...(chats === undefined ? [] : [plural(chats, "chat")])
  ]
    .filter((fact) => fact !== undefined)
    .join(" · ")

/** A `listbox` of WAI-ARIA: arrow keys, Home and End choose a node. */
export const NodeList = ({ nodes, shown, onChoose }: NodeListProps) => {
  const list = useRef<HTMLUListElement>(null)
  const keyPressed = (event: KeyboardEvent) => {
    const ids = nodes.map(({ node }) => node)
    const next = keyedChoice(event, ids, shown)
    if (next === undefined) return
    event.preventDefault()
    onChoose(next)
    list.current?.querySelectorAll<HTMLElement>("[role=option]")[ids.indexOf(next)]?.focus()
  }
  return (
    <ul
      ref={list}
      role="listbox"
      aria-label="Nodes"
      aria-orientation="horizontal"
      className="tro-nodes"
      onKeyDown={keyPressed}
    >
      {nodes.map((status) => {
        const { node, state, hasChat } = status
        return (
          <li
            key={node}
            role="option"
            aria-selected={node === shown}
            tabIndex={node === shown ? 0 : -1}
            data-state={state}
            onClick={() => onChoose(node)}
          >
            <span>
              <strong>{node}</strong>{" "}
              <span className="tro-badge" data-tone={tones[state]}>
                {state}
              </span>{" "}
              {hasChat === true && (
                <span className="tro-badge" data-tone="accent">
                  has the chat
                </span>
              )}
            </span>{" "}
            <span className="tro-node-facts">{factsOf(status)}</span>
          </li>
        )
      })}
    </ul>
  )
}
