/**
 * Paths through a chart, found in the chart itself, and walked by a real actor.
 *
 * The graph of a machine is what its pure transitions reach from an input with some events. A path is the shortest to
 * where an edge begins, and the edge. What the machine invokes is replaced by actors that do nothing; their ends are
 * events like any other.
 */
import {
  type AnyActorLogic,
  type AnyEventObject,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type AnyStateNode,
  type AnyTransitionDefinition,
  createActor,
  fromCallback
} from "xstate"
import { getAdjacencyMap, getStateNodes } from "xstate/graph"

/** What a machine is walked with. */
export interface Walk {
  readonly name: string
  readonly machine: AnyStateMachine
  readonly input: unknown
  /** The events. They are data, which no transition changes. */
  readonly events: () => ReadonlyArray<AnyEventObject>
  /** What of a snapshot makes it another state of the graph, beside its value. */
  readonly apart: (snapshot: AnyMachineSnapshot) => unknown
  /** Whether an event is sent in a state; by default each is in each. */
  readonly allows?: (snapshot: AnyMachineSnapshot, event: AnyEventObject) => boolean
}

/** A transition of the graph: the states it begins and ends in, and its event with its place among the walk's. */
interface Edge {
  readonly from: string
  readonly state: AnyMachineSnapshot
  readonly event: object
  readonly place: number
  readonly to: string
  readonly value: unknown
}

/** The transitions of the states, by the states' keys. */
type Adjacency = Readonly<
  Record<
    string,
    {
      readonly state: AnyMachineSnapshot
      readonly transitions: Readonly<Record<string, { readonly event: object; readonly state: AnyMachineSnapshot }>>
    }
  >
>

/** What a walk reaches. */
export interface Graph {
  readonly walk: Walk
  /** The machine without its actors and effects. */
  readonly logic: AnyStateMachine
  readonly edges: ReadonlyArray<Edge>
}

/** Events by their places in the walk's, and the values they should lead to. */
export interface Path {
  readonly title: string
  readonly steps: ReadonlyArray<{ readonly place: number; readonly value: unknown }>
}

/** The machine with actors and effects that do nothing. XState's own actions are functions with properties. */
export const silenced = (machine: AnyStateMachine): AnyStateMachine => {
  const silent: AnyActorLogic = fromCallback(() => {})
  const names = Object.keys(machine.implementations.actors)
  const actions = machine.implementations.actions as Readonly<Record<string, object>>
  const effects = Object.entries(actions).filter(([, action]) => Object.keys(action).length === 0)
  return machine.provide({
    actors: Object.fromEntries(names.map((name) => [name, silent])),
    actions: Object.fromEntries(effects.map(([name]) => [name, () => {}]))
  } as never)
}

const optionsOf = ({ input, events, apart, allows = () => true }: Walk) => {
  const places = new WeakMap<object, number>()
  const placeOf = (event: object): number => places.get(event) ?? -1
  return {
    input,
    events: () => {
      const made = events()
      made.forEach((event, place) => places.set(event, place))
      return made
    },
    placeOf,
    filterEvents: allows,
    limit: 20_000,
    stopWhen: ({ status }: AnyMachineSnapshot) => status !== "active",
    serializeState: (snapshot: unknown) => {
      const seen = snapshot as AnyMachineSnapshot
      return JSON.stringify([seen.value, seen.status, apart(seen)])
    },
    serializeEvent: (event: object) => String(placeOf(event))
  }
}

const graphOf = (walk: Walk): Graph => {
  const logic = silenced(walk.machine)
  const { placeOf, ...options } = optionsOf(walk)
  const adjacency = getAdjacencyMap(logic, options as never) as unknown as Adjacency
  const edges = Object.entries(adjacency).flatMap(([from, { state, transitions }]) =>
    Object.values(transitions).map(({ event, state: next }) => ({
      from,
      state,
      event,
      place: placeOf(event),
      to: options.serializeState(next),
      value: next.value
    }))
  )
  return { walk, logic, edges }
}

const graphs = new WeakMap<() => ReadonlyArray<Walk>, ReadonlyArray<Graph>>()

/** The graphs of the walks that a function makes. Later calls with the function return the same graphs. */
export const graphsOf = (walks: () => ReadonlyArray<Walk>): ReadonlyArray<Graph> => {
  const known = graphs.get(walks) ?? walks().map(graphOf)
  graphs.set(walks, known)
  return known
}

/** Shortest paths that together take each edge of the graph. A path that begins another path is left out. */
export const pathsOf = ({ walk, edges }: Graph): ReadonlyArray<Path> => {
  const types = walk.events().map(({ type }) => type)
  const start = edges[0]?.from
  // The edges are in the order of their states' distances, so the first edge to a state is on a shortest path.
  const firsts = new Map<string, Edge>()
  for (const edge of edges) if (edge.to !== start && !firsts.has(edge.to)) firsts.set(edge.to, edge)
  const left = new Set(edges.map(({ from }) => from))
  return edges
    .filter((edge) => firsts.get(edge.to) !== edge || !left.has(edge.to))
    .map((edge) => {
      const steps: Array<Edge> = []
      for (let last: Edge | undefined = edge; last !== undefined; last = firsts.get(last.from)) steps.unshift(last)
      return { title: steps.map(({ place }) => types[place]).join(", "), steps }
    })
}

const keyOf = (transition: AnyTransitionDefinition): string => {
  const { source, eventType } = transition
  const list = eventType === "" ? (source.always ?? []) : (source.transitions.get(eventType) ?? [])
  return `${source.id} on "${eventType}", ${list.indexOf(transition)}`
}

/** Every transition and every state of a machine. */
export const partsOf = (machine: AnyStateMachine) => {
  const nodes: ReadonlyArray<AnyStateNode> = [machine.root, ...getStateNodes(machine)]
  return {
    states: nodes.map(({ id }) => id),
    transitions: nodes.flatMap((node) => [...(node.always ?? []), ...[...node.transitions.values()].flat()].map(keyOf))
  }
}

/** What a walk came through. */
export class Seen {
  readonly states = new Set<string>()
  readonly transitions = new Set<string>()
}

/** Walks a path with a real actor; answers the values it came through. */
export const walkPath = ({ logic, walk }: Graph, path: Path, seen: Seen): ReadonlyArray<unknown> => {
  const { input, events } = walk
  const values: Array<unknown> = []
  const actor = createActor(logic, {
    input,
    inspect: (inspected) => {
      // No other actor takes microsteps: those that are invoked do nothing.
      if (inspected.type !== "@xstate.microstep") return
      for (const transition of inspected._transitions) seen.transitions.add(keyOf(transition))
      for (const { id } of (inspected.snapshot as AnyMachineSnapshot)._nodes) seen.states.add(id)
    }
  })
  actor.subscribe({ error: () => {} })
  actor.start()
  for (const { id } of actor.getSnapshot()._nodes) seen.states.add(id)
  const made = events()
  for (const { place } of path.steps) {
    const event = made[place]
    if (event !== undefined) actor.send(event)
    values.push(actor.getSnapshot().value)
  }
  actor.stop()
  return values
}
