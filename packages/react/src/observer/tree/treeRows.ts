/** Flattens a tree of processes to rows, and moves among them by keyboard. */
import type { Observation } from "@troupe/chat/observe"

/** A row; `setSize` and `position` are among its siblings. */
export interface TreeRow {
  readonly node: Observation.ProcessNode
  readonly level: number
  readonly parent: string | undefined
  readonly setSize: number
  readonly position: number
}

/** The rows in display order, without the children of closed rows. */
export const rowsOf = (
  nodes: ReadonlyArray<Observation.ProcessNode>,
  closed: ReadonlySet<string>,
  level = 1,
  parent?: string
): ReadonlyArray<TreeRow> =>
  nodes.flatMap((node, index) => [
    { node, level, parent, setSize: nodes.length, position: index + 1 },
    ...(closed.has(node.id) ? [] : rowsOf(node.children, closed, level + 1, node.id))
  ])

/** All nodes, parents first. */
export const nodesOf = (nodes: ReadonlyArray<Observation.ProcessNode>): ReadonlyArray<Observation.ProcessNode> =>
  nodes.flatMap((node) => [node, ...nodesOf(node.children)])

/** The effect of a key. */
export type TreeMove =
  | { readonly type: "focus"; readonly id: string }
  | { readonly type: "open" | "close"; readonly ids: ReadonlyArray<string> }

const focus = (row: TreeRow | undefined): TreeMove | undefined =>
  row === undefined ? undefined : { type: "focus", id: row.node.id }

/** The effect of a key at a row: the keys of the tree pattern of WAI-ARIA. */
export const moveOf = (
  key: string,
  rows: ReadonlyArray<TreeRow>,
  at: string,
  closed: ReadonlySet<string>
): TreeMove | undefined => {
  const index = rows.findIndex((row) => row.node.id === at)
  const row = rows[index]
  if (row === undefined) return undefined
  const { node } = row
  const isParent = node.children.length > 0
  switch (key) {
    case "ArrowDown":
      return focus(rows[index + 1])
    case "ArrowUp":
      return focus(rows[index - 1])
    case "Home":
      return focus(rows[0])
    case "End":
      return focus(rows.at(-1))
    case "ArrowRight":
      if (!isParent) return undefined
      return closed.has(node.id) ? { type: "open", ids: [node.id] } : focus(rows[index + 1])
    case "ArrowLeft":
      if (isParent && !closed.has(node.id)) return { type: "close", ids: [node.id] }
      return row.parent === undefined ? undefined : { type: "focus", id: row.parent }
    case "*":
      return { type: "open", ids: rows.filter(({ parent }) => parent === row.parent).map((sibling) => sibling.node.id) }
    default:
      return undefined
  }
}

/**
 * The next row, wrapping around, whose label begins with the typed text. While a word is typed, the current row may match
 * too.
 */
export const typedTo = (typed: string, rows: ReadonlyArray<TreeRow>, at: string): string | undefined => {
  const index = rows.findIndex((row) => row.node.id === at)
  const word = typed.toLowerCase()
  const from = word.length > 1 ? Math.max(0, index) : index + 1
  const round = [...rows.slice(from), ...rows.slice(0, from)]
  return round.find((row) => row.node.label.toLowerCase().startsWith(word))?.node.id
}
