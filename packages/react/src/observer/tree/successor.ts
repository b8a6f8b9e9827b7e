/**
 * Who came in the place of a process that ended: its supervisor started it again, under another pid.
 *
 * A process is known by its place: the labels on the way to it. Of those that are new since, the one at that place is its
 * successor; when its supervisor was started again too, the place is still the same.
 */
import type { Observation } from "@troupe/chat/observe"

/** A process to be looked out for: where it stood, and who stood there already, itself among them. */
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

/** A process of a tree, to be looked out for. */
export const lostIn = (tree: ReadonlyArray<Observation.ProcessNode>, id: string): Lost | undefined => {
  const all = placed(tree)
  const found = all.find(({ node }) => node.id === id)
  if (found === undefined) return undefined
  return { id, label: found.node.label, place: found.place, known: new Set(all.map(({ node }) => node.id)) }
}

/** The pid of who came in its place; `undefined` while nobody did. */
export const successorOf = (lost: Lost, tree: ReadonlyArray<Observation.ProcessNode>): string | undefined =>
  placed(tree).find(({ node, place }) => place === lost.place && !lost.known.has(node.id))?.node.id
