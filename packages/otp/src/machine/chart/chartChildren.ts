/** The children of a chart: none, one, or a map of several by their ids. An empty map would use more memory than the rest of a chart. */
import type { EventObject } from "xstate"
import type { HostedActor } from "./hostedActors.ts"

/** The start of a child. The chart keeps it until it stops the child. */
export interface ChildStart {
  readonly kind: "start"
  readonly id: string
  readonly src: string
  readonly actor: HostedActor
  readonly input: unknown
  /** What the host started; the chart does not use it. */
  live: LiveChild | undefined
}

/** A running child. */
export interface LiveChild {
  readonly receive: (event: EventObject) => void
  readonly stop: () => void
}

export type ChartChildren = ChildStart | Map<string, ChildStart> | undefined

/** The children, in the order of their start. */
export const childrenOf = (children: ChartChildren): Iterable<ChildStart> => {
  if (children instanceof Map) return children.values()
  return children === undefined ? [] : [children]
}

/** The child with an id. */
export const childIn = (children: ChartChildren, id: string | undefined): ChildStart | undefined => {
  if (id === undefined) return undefined
  if (children instanceof Map) return children.get(id)
  return children?.id === id ? children : undefined
}

/** The children with one more, which takes the place of one with its id. */
export const withChild = (children: ChartChildren, child: ChildStart): ChartChildren => {
  if (children instanceof Map) return children.set(child.id, child)
  if (children === undefined || children.id === child.id) return child
  return new Map([
    [children.id, children],
    [child.id, child]
  ])
}

/** The children without one. */
export const withoutChild = (children: ChartChildren, id: string): ChartChildren => {
  if (!(children instanceof Map)) return children?.id === id ? undefined : children
  children.delete(id)
  return children.size === 0 ? undefined : children
}
