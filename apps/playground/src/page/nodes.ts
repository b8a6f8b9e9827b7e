/** The nodes of the cluster that serves this page, as the server of the buttons sends them. */
import { useEffect, useState } from "react"
import type { ClusterStatus, Command } from "../control/index.ts"

/** The address of the server of the buttons. A page without a cluster has none. */
export const control = document.querySelector<HTMLMetaElement>('meta[name="troupe-control"]')?.content

/** The nodes, and a function that sends a command. `isLost` is whether the server does not answer. */
export interface Nodes extends ClusterStatus {
  readonly isLost: boolean
  readonly send: (command: Command) => void
}

const none: ClusterStatus = { nodes: [], notice: "" }

/** Follows the nodes. */
export const useNodes = (url: string): Nodes => {
  const [status, setStatus] = useState(none)
  const [isLost, setLost] = useState(false)
  const notice = (text: string): void => setStatus((before) => ({ ...before, notice: text }))
  useEffect(() => {
    const events = new EventSource(`${url}/events`)
    events.addEventListener("message", ({ data }: MessageEvent<string>) => {
      setStatus(JSON.parse(data) as ClusterStatus)
      setLost(false)
    })
    events.addEventListener("error", () => setLost(true))
    return () => events.close()
  }, [url])
  const send = async (command: Command): Promise<void> => {
    const path = command.type === "add" ? "/nodes" : `/nodes/${command.node}/${command.type}`
    const response = await fetch(url + path, { method: "POST" })
    if (response.ok) return
    const { error } = (await response.json()) as { readonly error: string }
    notice(error)
  }
  return {
    ...status,
    isLost,
    send: (command) => void send(command).catch((error: unknown) => notice(String(error)))
  }
}
