/**
 * The supervision tree as rows, and the selected row.
 *
 * @module
 */
import type { Observation } from "@troupe/chat/observe"

/** One process and its position. */
export interface ProcessRow {
  readonly node: Observation.ProcessNode
  /** The characters of the branch before it. */
  readonly branch: string
  /** The labels from the root to the process: a process restarted under the same path is its successor. */
  readonly path: string
}

/** The selection: a process, and its path for the time after its end. */
export interface Chosen {
  readonly id: string
  readonly path: string
}

/** All processes, each below its parent. */
export const rowsOf = (tree: ReadonlyArray<Observation.ProcessNode>): ReadonlyArray<ProcessRow> => {
  const rows: Array<ProcessRow> = []
  const add = (nodes: ReadonlyArray<Observation.ProcessNode>, indent: string, above: string, isRoot: boolean): void => {
    nodes.forEach((node, index) => {
      const isLast = index === nodes.length - 1
      const path = `${above}/${node.label}`
      rows.push({ node, branch: isRoot ? "" : `${indent}${isLast ? "└─ " : "├─ "}`, path })
      add(node.children, isRoot ? "" : `${indent}${isLast ? "   " : "│  "}`, path, false)
    })
  }
  add(tree, "", "", true)
  return rows
}

/** The row of the selection. When the process has ended, the row of its successor, or of its nearest live ancestor. */
export const chosenRow = (rows: ReadonlyArray<ProcessRow>, chosen: Chosen | undefined): number => {
  if (chosen === undefined) return 0
  const itself = rows.findIndex(({ node }) => node.id === chosen.id)
  if (itself >= 0) return itself
  const successor = rows.findLastIndex(({ path }) => path === chosen.path)
  if (successor >= 0) return successor
  const above = rows.filter(({ path }) => chosen.path.startsWith(`${path}/`))
  const nearest = above.toSorted((one, other) => one.path.length - other.path.length).at(-1)
  return nearest === undefined ? 0 : rows.indexOf(nearest)
}
