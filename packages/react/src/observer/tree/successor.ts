/**
 * Finds the successor of an ended process: its supervisor started it again, under another pid.
 *
 * A process is identified by its place: the labels of its ancestors and itself. The successor is the new process at that
 * place. When its supervisor was restarted too, the place is still the same.
 */
import type { Observation } from "@troupe/chat/observe"

/** A process whose successor is awaited: its place, and the processes that were at that place, including itself. */
export interface Lost {
  readonly id: string
  readonly label: string
  readonly place: string
  readonly known: ReadonlySet<string>
}

interface Placed {
  readonly node: Observation.ProcessNode
  readonly place: string
}

const placed = (nodes: ReadonlyArray<Observation.ProcessNode>, above = ""): ReadonlyArray<Placed> =>
  nodes.flatMap((node) => {
    const place = `${above}/${node.name ?? node.label}`
    return [{ node, place }, ...placed(node.children, place)]
  })

/** Records the place of a process in a tree. */
export const lostIn = (tree: ReadonlyArray<Observation.ProcessNode>, id: string): Lost | undefined => {
  const all = placed(tree)
  const found = all.find(({ node }) => node.id === id)
  if (found === undefined) return undefined
  return { id, label: found.node.label, place: found.place, known: new Set(all.map(({ node }) => node.id)) }
}

/** The pid of the successor; `undefined` until there is one. */
export const successorOf = (lost: Lost, tree: ReadonlyArray<Observation.ProcessNode>): string | undefined =>
  placed(tree).find(({ node, place }) => place === lost.place && !lost.known.has(node.id))?.node.id
