/**
 * The rows of processes that have just ended (ghosts), which fade out in place.
 *
 * Owns: the list of ghosts. A ghost is removed when it has faded, and when there are too many.
 */
import type { Observation } from "@troupe/chat/observe"
import { useState } from "react"
import { nodesOf, type TreeRow } from "./treeRows.ts"

/** A removed row; `after` is the row before it. */
export interface Ghost {
  readonly row: TreeRow
  readonly after: string | undefined
}

export type ShownRow = TreeRow & { readonly isGhost: boolean }

const mostGhosts = 50

/** The rows with the ghosts between them. */
const withGhosts = (rows: ReadonlyArray<TreeRow>, ghosts: ReadonlyArray<Ghost>): ReadonlyArray<ShownRow> => {
  if (ghosts.length === 0) return rows.map((row) => ({ ...row, isGhost: false }))
  const behind = Map.groupBy(ghosts, ({ after }) => after)
  const ghostsAfter = (id: string | undefined): ReadonlyArray<ShownRow> =>
    (behind.get(id) ?? []).flatMap(({ row }) => [{ ...row, isGhost: true }, ...ghostsAfter(row.node.id)])
  return [
    ...ghostsAfter(undefined),
    ...rows.flatMap((row) => [{ ...row, isGhost: false }, ...ghostsAfter(row.node.id)])
  ]
}

/** The ghosts after `shown` was shown, when only the processes `living` are alive. */
const ghostsAmong = (shown: ReadonlyArray<ShownRow>, living: ReadonlySet<string>): ReadonlyArray<Ghost> =>
  shown
    .flatMap((row, index) => (living.has(row.node.id) ? [] : [{ row, after: shown[index - 1]?.node.id }]))
    .slice(-mostGhosts)

interface Memory {
  readonly tree: ReadonlyArray<Observation.ProcessNode>
  readonly shown: ReadonlyArray<ShownRow>
  readonly ghosts: ReadonlyArray<Ghost>
  /** The rows of the first tree: they do not fade in. */
  readonly first: ReadonlySet<string>
}

const idsOf = (tree: ReadonlyArray<Observation.ProcessNode>): ReadonlySet<string> =>
  new Set(nodesOf(tree).map(({ id }) => id))

/** The rows to show, the new ones among them, and the callback for a ghost that has faded. */
export const useGhosts = (tree: ReadonlyArray<Observation.ProcessNode>, rows: ReadonlyArray<TreeRow>) => {
  const [memory, setMemory] = useState<Memory>(() => ({
    tree,
    shown: withGhosts(rows, []),
    ghosts: [],
    first: idsOf(tree)
  }))
  const ghosts = memory.tree === tree ? memory.ghosts : ghostsAmong(memory.shown, idsOf(tree))
  const shown = withGhosts(rows, ghosts)
  const isSame =
    memory.tree === tree &&
    shown.length === memory.shown.length &&
    shown.every(({ node, isGhost }, index) => {
      const before = memory.shown[index]
      return before?.node === node && before.isGhost === isGhost
    })
  if (!isSame) setMemory({ ...memory, tree, ghosts, shown })
  const faded = (id: string) =>
    setMemory((now) => ({ ...now, ghosts: now.ghosts.filter(({ row }) => row.node.id !== id) }))
  return { shown, faded, isNew: (id: string) => !memory.first.has(id) }
}
