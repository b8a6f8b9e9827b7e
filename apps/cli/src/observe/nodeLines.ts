/**
 * The nodes of a cluster, as lines.
 *
 * @module
 */
import type { NodeStatus } from "@troupe/server/ChatLink"
import { type Paint, shortened, visible } from "../output/index.ts"

const looks: { readonly [State in NodeStatus["state"]]: keyof Paint } = {
  alive: "good",
  draining: "warn",
  silent: "bad",
  gone: "bad"
}

/** `10.0.0.7:7700 draining, home, 2048 buckets, epoch 12, 3 chats` */
export const nodeText = ({ node, state, role, buckets, epoch, chats }: NodeStatus): string =>
  [
    `${visible(node)} ${state}`,
    ...(role === undefined ? [] : [role]),
    ...(buckets === undefined ? [] : [`${buckets} buckets`, `epoch ${epoch ?? 0}`]),
    ...(chats === undefined ? [] : [`${chats} chats`])
  ].join(", ")

/** A line for each node, at most `room`, with the shown node among them. */
export const nodeLines = (
  nodes: ReadonlyArray<NodeStatus>,
  shown: string | undefined,
  { room, columns }: { readonly room: number; readonly columns: number },
  paint: Paint
): ReadonlyArray<string> => {
  const at = nodes.findIndex(({ node }) => node === shown)
  const from = Math.max(0, Math.min(at - Math.floor(room / 2), nodes.length - room))
  return nodes.slice(from, from + room).map((status) => {
    const text = shortened(nodeText(status), Math.max(1, columns - 2))
    return `${status.node === shown ? paint.accent("●") : " "} ${paint[looks[status.state]](text)}`
  })
}
