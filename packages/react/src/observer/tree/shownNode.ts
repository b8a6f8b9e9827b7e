/**
 * The node of a cluster that is shown.
 *
 * Owns: the reader's choice, and the address of the node that the client has reached. Does not own the list of nodes, which
 * belongs to the link.
 *
 * OBS4. Until the reader chooses a node, the home of the chat is shown, also after the chat has moved. Without a chat it is the
 *       reached node. A chosen node stays shown when it is silent or gone.
 * OBS5. The list of nodes is watched only when the tree has named its node. Without a cluster it is not requested.
 */
import type { Observation } from "@troupe/chat/observe"
import type { NodeStatus, ObserverLink } from "@troupe/server/ChatLink"
import { useMemo, useState } from "react"
import { useWatched } from "../parts/index.ts"

/** The shown node: its observation and its tree. `node` is its address in a cluster, and `nodes` are to choose from. */
export interface ShownNode {
  readonly at: ObserverLink
  readonly observed: Observation.Observed | undefined
  readonly node: string | undefined
  readonly nodes: ReadonlyArray<NodeStatus>
  readonly choose: (node: string) => void
}

interface Choice {
  readonly link: ObserverLink
  readonly chosen: string | undefined
  readonly reached: string | undefined
}

const nothing = { getState: () => undefined, subscribe: () => () => {} }

export const useShownNode = (link: ObserverLink, chat: string | undefined): ShownNode => {
  const [kept, setKept] = useState<Choice>({ link, chosen: undefined, reached: undefined })
  const choice = kept.link === link ? kept : { link, chosen: undefined, reached: undefined }
  const { chosen, reached } = choice
  const isMany = reached !== undefined
  const list = useMemo(() => (isMany ? link.nodes?.(chat) : undefined) ?? nothing, [link, chat, isMany])
  const nodes = useWatched<ReadonlyArray<NodeStatus>>(list)
  const named = chosen ?? nodes?.find(({ hasChat }) => hasChat === true)?.node
  const at = useMemo(() => (named === undefined ? undefined : link.node?.(named)) ?? link, [link, named])
  const observed = useWatched(at.tree)
  if (reached === undefined && observed?.node !== undefined) setKept({ ...choice, reached: observed.node })
  const node = named ?? observed?.node
  return {
    at,
    observed,
    node,
    nodes: useMemo(() => withNode(nodes ?? [], node), [nodes, node]),
    choose: (address) => setKept({ ...choice, chosen: address })
  }
}

/** A node that is shown stays in the list when the cluster has forgotten it. */
const withNode = (nodes: ReadonlyArray<NodeStatus>, node: string | undefined): ReadonlyArray<NodeStatus> =>
  node === undefined || nodes.length === 0 || nodes.some((one) => one.node === node)
    ? nodes
    : [...nodes, { node, state: "gone" }]
