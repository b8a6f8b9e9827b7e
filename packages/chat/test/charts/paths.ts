/**
 * Paths through a chart, found in the chart itself, and walked by a real actor.
 *
 * The graph of a machine is what its pure transitions reach from an input with some events. Each edge of it is a path:
 * the shortest to where the edge begins, and the edge. What the machine invokes is replaced by actors that do nothing;
 * their ends are events like any other.
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
import { adjacencyMapToArray, getAdjacencyMap, getShortestPaths, getStateNodes } from "xstate/graph"

/** What a machine is walked with. */
export interface Walk {
  readonly name: string
  readonly machine: AnyStateMachine
  readonly input: unknown
  /** Made anew for each state and each path: what an event carries may take note of what became of it. */
  readonly events: () => ReadonlyArray<AnyEventObject>
  /** What of a snapshot makes it another state of the graph, beside its value. */
  readonly apart: (snapshot: AnyMachineSnapshot) => unknown
  /** Whether an event is sent in a state; by default each is in each. */
  readonly allows?: (snapshot: AnyMachineSnapshot, event: AnyEventObject) => boolean
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

/** One path for each edge of the machine's graph. */
export const pathsOf = (walk: Walk): ReadonlyArray<Path> => {
  const logic = silenced(walk.machine)
  const { placeOf, ...options } = optionsOf(walk)
  const types = walk.events().map(({ type }) => type)
  const shortest = new Map(
    getShortestPaths(logic, options as never).map(({ state, steps }) => [
      options.serializeState(state),
      // The first step of a path is the start.
      steps.slice(1).map(({ event, state: reached }) => ({ place: placeOf(event as object), value: valueOf(reached) }))
    ])
  )
  return adjacencyMapToArray(getAdjacencyMap(logic, options as never)).map((edge) => {
    const last = { place: placeOf(edge.event as object), value: valueOf(edge.nextState) }
    const steps = [...(shortest.get(options.serializeState(edge.state)) ?? []), last]
    return { title: steps.map(({ place }) => types[place]).join(", "), steps }
  })
}

/** The edges of the machine's graph: the states they begin in, and their events. */
export const edgesOf = (walk: Walk): ReadonlyArray<{ readonly state: AnyMachineSnapshot; readonly event: object }> => {
  const { placeOf: _, ...options } = optionsOf(walk)
  return adjacencyMapToArray(getAdjacencyMap(silenced(walk.machine), options as never)).map(({ state, event }) => ({
    state: state as AnyMachineSnapshot,
    event: event as object
  }))
}

const valueOf = (snapshot: unknown): unknown => (snapshot as AnyMachineSnapshot).value

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
export const walkPath = ({ machine, input, events }: Walk, path: Path, seen: Seen): ReadonlyArray<unknown> => {
  const values: Array<unknown> = []
  const actor = createActor(silenced(machine), {
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
