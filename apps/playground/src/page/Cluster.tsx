import { useTroupe } from "@troupe/react"
import { type ReactNode, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react"
import { actionsOf, keysHelp, nameOf, press, wordOf } from "../control/index.ts"
import { type Nodes, useNodes } from "./nodes.ts"

/** Calls the commands of the keys, unless the user types into a field, or with another key held. */
const useKeys = ({ nodes, send }: Nodes, isOn: boolean): void => {
  const letter = useRef<string>(undefined)
  useEffect(() => {
    if (!isOn) return undefined
    const pressed = (event: KeyboardEvent): void => {
      const { target, key } = event
      const isField = target instanceof Element && target.matches("input, textarea, select, [contenteditable]")
      if (isField || key.length !== 1 || event.ctrlKey || event.metaKey || event.altKey) return
      // A space presses the button that has the focus.
      if (key === " ") return
      const { letter: next, command } = press(letter.current, key, nodes)
      letter.current = next
      if (command !== undefined) send(command)
    }
    addEventListener("keydown", pressed)
    return () => removeEventListener("keydown", pressed)
  }, [nodes, send, isOn])
}

const nothing = { getState: () => undefined, subscribe: () => () => {} }

/** The address of the home of a conversation. */
const useHome = (chat: string | undefined): string | undefined => {
  const { observer } = useTroupe()
  const { subscribe, getState } = useMemo(
    () => (chat === undefined ? undefined : observer.nodes?.(chat)) ?? nothing,
    [observer, chat]
  )
  const nodes = useSyncExternalStore(subscribe, getState)
  return nodes?.find(({ hasChat }) => hasChat === true)?.node
}

/** The nodes of the cluster, each with its buttons. `chat` is the conversation whose home is marked. */
export const Cluster = ({ url, chat }: { readonly url: string; readonly chat: string | undefined }): ReactNode => {
  const cluster = useNodes(url)
  const [hasKeys, setKeys] = useState(true)
  useKeys(cluster, hasKeys)
  const home = useHome(chat)
  const { nodes, notice, isLost, send } = cluster
  return (
    <section className="nodes" aria-label="Nodes">
      <ul>
        {nodes.map((node) => {
          const { number, role, state, address, buckets, epoch, chats } = node
          const name = nameOf(node)
          const isHere = address === home
          return (
            <li key={number} data-node={number} data-state={state} data-here={isHere}>
              <p>
                <span className="dot" aria-hidden="true" /> <strong>{name}</strong> <kbd>{number}</kbd>{" "}
                <span>{state}</span>
                {isHere ? <mark>this chat</mark> : null}
              </p>
              <p className="held">
                {role === "gateway"
                  ? "forwards requests"
                  : `${chats} ${chats === 1 ? "chat" : "chats"}, ${buckets} buckets${epoch === undefined ? "" : `, epoch ${epoch}`}`}
              </p>
              <div className="verbs">
                {actionsOf(state).map((action) => (
                  <button
                    key={action}
                    type="button"
                    aria-label={`${wordOf(action)} ${name}`}
                    onClick={() => send({ type: action, node: number })}
                  >
                    {wordOf(action)}
                  </button>
                ))}
              </div>
            </li>
          )
        })}
      </ul>
      <div className="foot">
        <p role="status">{isLost ? "The program that controls the nodes does not answer." : notice}</p>
        <button type="button" aria-pressed={hasKeys} title={keysHelp} onClick={() => setKeys(!hasKeys)}>
          Keys
        </button>
        <button type="button" className="primary" onClick={() => send({ type: "add" })}>
          Add a home
        </button>
      </div>
    </section>
  )
}
