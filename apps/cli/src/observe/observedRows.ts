/**
 * The supervision tree as rows, and which of them is chosen.
 *
 * @module
 */
import type { Observation } from "@troupe/chat/observe"

/** One process in its place. */
export interface ProcessRow {
  readonly node: Observation.ProcessNode
  /** What is drawn before it. */
  readonly branch: string
  /** Its label and those above it: who is started again under the same path is its successor. */
  readonly path: string
}

/** What is chosen: a process, and its path for when it is gone. */
export interface Chosen {
  readonly id: string
  readonly path: string
}

/** All processes, each below the one that started it. */
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

/** The row of what is chosen; of what has ended its successor's, or else that of the nearest above it that lives. */
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
