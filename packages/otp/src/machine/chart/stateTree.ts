/** The states of a machine, as a tree. */
import type { StateNode } from "xstate"

/** A list from a value, a list or nothing. */
export const itemsOf = (items: unknown): ReadonlyArray<unknown> =>
  items === undefined ? [] : Array.isArray(items) ? items : [items]

/** The delayed events of a state: each delay once. */
export const delaysOf = (node: StateNode): ReadonlyArray<{ readonly id: string; readonly delay: string | number }> => {
  const delays = new Map<string, string | number>()
  for (const { delay, eventType } of node.after as ReadonlyArray<{
    readonly delay: string | number
    readonly eventType: string
  }>) {
    delays.set(eventType, delay)
  }
  return Array.from(delays, ([id, delay]) => ({ id, delay }))
}

/** A state and all states below it. */
export const everyNode = (node: StateNode): ReadonlyArray<StateNode> => [
  node,
  ...Object.values<StateNode>(node.states).flatMap(everyNode)
]

/** A node and its ancestors, innermost first. */
export const lineage = (node: StateNode): ReadonlyArray<StateNode> => [
  node,
  ...(node.parent === undefined ? [] : lineage(node.parent))
]

/** The states entered by default below a node. */
export const descent = (node: StateNode): ReadonlyArray<StateNode> => {
  const first = node.type === "compound" ? (node.initial.target?.[0] as StateNode | undefined) : undefined
  if (first === undefined) return []
  const between = lineage(first)
    .slice(1)
    .filter((ancestor) => isDescendant(ancestor, node))
    .toReversed()
  return [...between, first, ...descent(first)]
}

/** Whether a state is below another. */
export const isDescendant = (node: StateNode, ancestor: StateNode): boolean =>
  node.parent !== undefined && (node.parent === ancestor || isDescendant(node.parent, ancestor))

/** The innermost state that properly contains both; `undefined` only if the root re-enters itself. */
export const commonAncestor = (target: StateNode, source: StateNode): StateNode | undefined =>
  lineage(target)
    .slice(1)
    .find((ancestor) => isDescendant(source, ancestor))

/** The value of an active state, as XState writes it. */
export const valueOf = (leaf: StateNode): unknown => {
  const [key, ...inner] = lineage(leaf)
    .slice(0, -1)
    .map((node) => node.key)
  return key === undefined ? {} : inner.reduce<unknown>((value, outer) => ({ [outer]: value }), key)
}
