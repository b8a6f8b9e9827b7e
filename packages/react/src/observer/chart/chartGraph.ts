/** Converts a machine to a graph. The graph is read from the machine itself, so the drawing always matches it. */
import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from "xstate"

/** A state; `id` is its path, joined by dots. */
export interface GraphState {
  readonly id: string
  readonly key: string
  readonly isFinal: boolean
  readonly initial: string | undefined
  readonly states: ReadonlyArray<GraphState>
}

/** All transitions from one state to another; a label names the event and the guard. */
export interface GraphEdge {
  readonly from: string
  readonly to: string
  readonly labels: ReadonlyArray<string>
}

export interface ChartGraph {
  readonly id: string
  readonly states: ReadonlyArray<GraphState>
  readonly initial: string | undefined
  readonly edges: ReadonlyArray<GraphEdge>
}

/** The id of a state, as `running.committing`. The machine's own id is empty. */
const idOf = (node: AnyStateNode): string => node.path.join(".")

const wordOf = (part: unknown): string => {
  if (typeof part === "string") return part
  if (typeof part === "function" && part.name !== "" && part.name !== "guard") return part.name
  if (typeof part === "object" && part !== null && "type" in part) return wordOf(part.type)
  return "…"
}

const eventOf = (event: string, node: AnyStateNode): string => {
  const [, kind, rest = ""] = /^xstate\.(after|done\.actor|error\.actor|done\.state)\.(.*)$/.exec(event) ?? []
  const invoked = node.invoke.find(({ id }) => id === rest)
  const subject = invoked !== undefined && rest.includes(".") ? wordOf(invoked.src) : rest
  if (kind === "after") return `after ${rest.replace(`.${node.id}`, "")}`
  if (kind === "done.actor") return `${subject} done`
  if (kind === "error.actor") return `${subject} failed`
  return kind === undefined ? event : "done"
}

const labelOf = (transition: AnyTransitionDefinition, node: AnyStateNode): string => {
  const guard = transition.guard === undefined ? "" : `[${wordOf(transition.guard)}]`
  return [eventOf(transition.eventType, node), guard].filter((part) => part !== "").join(" ")
}

const edgesOf = (node: AnyStateNode): ReadonlyArray<GraphEdge> => [
  ...[...(node.always ?? []), ...[...node.transitions.values()].flat()].flatMap((transition) =>
    (transition.target ?? []).map((target) => ({
      from: idOf(node),
      to: idOf(target),
      labels: [labelOf(transition, node)]
    }))
  ),
  ...Object.values(node.states).flatMap(edgesOf)
]

/** Merges all transitions between two states to one edge. */
const together = (edges: ReadonlyArray<GraphEdge>): ReadonlyArray<GraphEdge> =>
  [...Map.groupBy(edges, ({ from, to }) => `${from}>${to}`).values()].flatMap(([first, ...others]) => {
    if (first === undefined) return []
    const labels = new Set([first, ...others].flatMap((edge) => edge.labels).filter((label) => label !== ""))
    return [{ from: first.from, to: first.to, labels: [...labels] }]
  })

const initialOf = (node: AnyStateNode): string | undefined => {
  const first = Object.keys(node.states).length === 0 ? undefined : node.initial.target[0]
  return first === undefined ? undefined : idOf(first)
}

const statesOf = (node: AnyStateNode): ReadonlyArray<GraphState> =>
  Object.values(node.states).map((state) => ({
    id: idOf(state),
    key: state.key,
    isFinal: state.type === "final",
    initial: initialOf(state),
    states: statesOf(state)
  }))

/** The graph of a machine. */
export const graphOf = ({ root }: AnyStateMachine): ChartGraph => ({
  id: root.key,
  states: statesOf(root),
  initial: initialOf(root),
  edges: together(edgesOf(root).filter(({ from }) => from !== ""))
})

/** The ids of the active states of a state value: `{ running: "phaseA" }` is `running` and `running.phaseA`. */
export const activeOf = (value: unknown, above = ""): ReadonlyArray<string> => {
  const below = (key: string): string => (above === "" ? key : `${above}.${key}`)
  if (typeof value === "string") return [below(value)]
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => [below(key), ...activeOf(inner, below(key))])
}

/** The active states of a state value in words. */
export const activeText = (value: unknown): string => {
  const active = activeOf(value)
  return active.length === 0 ? "in no state" : `is in ${active.map((state) => state.split(".").at(-1)).join(" › ")}`
}
