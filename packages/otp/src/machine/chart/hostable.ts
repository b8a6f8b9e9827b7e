/**
 * The features of a machine that a host does not perform.
 *
 * HOSTABLE1. Each of these features is found before the machine runs; a machine without them can be hosted.
 */
import { type AnyStateMachine, StateMachine, type StateNode } from "xstate"
import { actionNamed, actorNamed, guardNamed } from "./namedCode.ts"
import { hostedActorOf } from "./hostedActors.ts"
import { everyNode, itemsOf } from "./stateTree.ts"

interface AnyTransition {
  readonly target?: ReadonlyArray<StateNode> | undefined
  readonly actions: ReadonlyArray<unknown>
  readonly guard?: unknown
}

interface AnyInvoke {
  readonly id: string
  readonly src: unknown
  readonly systemId?: string | undefined
  readonly onSnapshot?: unknown
}

/** The reasons why a machine is run by XState; none for a machine that can be hosted. */
export const problemsOf = (machine: AnyStateMachine): Set<string> => {
  const problems = new Set<string>()
  const { options } = machine as { readonly options?: { readonly maxIterations?: number } }
  if ((options?.maxIterations ?? Infinity) !== Infinity) problems.add("maxIterations")
  for (const node of everyNode(machine.root)) checkState(machine, node, problems)
  return problems
}

const queueActions: ReadonlySet<string | undefined> = new Set(["postpone", "insert", "timeout"])

/** Whether a machine uses an action that needs the queue of its events. */
export const usesQueue = (machine: AnyStateMachine): boolean => {
  const isQueueing = (item: unknown): boolean => queueActions.has(actionNamed(machine, item).builtIn?.kind)
  return everyNode(machine.root).some((node) => {
    const { initial, transitions, always = [] } = node
    const taken: ReadonlyArray<AnyTransition> = [...[...transitions.values()].flat(), ...always, initial]
    const actions = taken.flatMap((transition) => transition.actions)
    return [...itemsOf(node.config.entry), ...itemsOf(node.config.exit), ...actions].some(isQueueing)
  })
}

const checkState = (machine: AnyStateMachine, node: StateNode, problems: Set<string>): void => {
  if (node.type === "parallel") problems.add("parallel states")
  if (node.type === "history") problems.add("history states")
  const invokes: ReadonlyArray<AnyInvoke> = node.invoke
  for (const invoke of invokes) checkInvoke(machine, invoke, problems)
  for (const [type, transitions] of node.transitions) {
    if (type.includes("*") && !isOwnPrefix(machine, node, type)) problems.add("wildcard transitions")
    for (const transition of transitions) checkTransition(machine, transition, problems)
  }
  for (const transition of node.always ?? []) checkTransition(machine, transition, problems)
  for (const item of itemsOf(node.config.exit)) checkAction(machine, item, problems)
  for (const item of itemsOf(node.config.entry)) {
    checkAction(machine, item, problems)
    const { builtIn } = actionNamed(machine, item)
    if (builtIn?.kind === "send" && invokes.some(({ id }) => typeof builtIn.to !== "string" || id === builtIn.to)) {
      problems.add("an entry action that sends to an actor of its state")
    }
  }
  if (node.type === "compound") for (const item of node.initial.actions) checkAction(machine, item, problems)
}

/** Whether `type` is a prefix (`name.*`) of the root with which no other transition of the machine competes. */
const isOwnPrefix = ({ root }: AnyStateMachine, node: StateNode, type: string): boolean => {
  if (node !== root || !type.endsWith(".*") || type.indexOf("*") < type.length - 1) return false
  const prefix = type.slice(0, -1)
  return everyNode(root).every((one) =>
    [...one.transitions.keys()].every((key) => key === type || !key.startsWith(prefix))
  )
}

const checkInvoke = (
  machine: AnyStateMachine,
  { src, systemId, onSnapshot }: AnyInvoke,
  problems: Set<string>
): void => {
  if (systemId !== undefined) problems.add("systemId")
  if (onSnapshot !== undefined) problems.add("onSnapshot")
  if (typeof src !== "string" || src.startsWith("xstate.invoke.")) problems.add("an invoked actor without a name")
  else checkActor(machine, src, problems)
}

const checkActor = (machine: AnyStateMachine, src: string, problems: Set<string>): void => {
  const logic = actorNamed(machine, src)
  const isMachine = logic instanceof StateMachine
  if (logic === undefined) problems.add(`the actor ${src}, which has no implementation`)
  else if (hostedActorOf(logic) === undefined) {
    problems.add(`the actor ${src}, which ${isMachine ? "is not hosted" : "only XState runs"}`)
  }
  if (isMachine) for (const problem of problemsOf(logic)) problems.add(`${src}: ${problem}`)
}

const checkTransition = (
  machine: AnyStateMachine,
  { target = [], guard, actions }: AnyTransition,
  problems: Set<string>
): void => {
  if (target.length > 1) problems.add("several targets")
  for (const item of actions) checkAction(machine, item, problems)
  if (guard === undefined) return
  const found = guardNamed(machine, guard)
  if (typeof found !== "function") problems.add("a guard without an implementation")
  // XState's `and`, `or`, `not` and `stateIn` are functions with properties.
  else if (Object.keys(found).length > 0) problems.add("combined guards")
}

const checkAction = (machine: AnyStateMachine, item: unknown, problems: Set<string>): void => {
  const { name, run, builtIn } = actionNamed(machine, item)
  if (builtIn?.kind === "spawn") checkActor(machine, builtIn.src, problems)
  if (typeof run !== "function" || builtIn !== undefined) return
  // XState's own actions are functions with properties.
  const isXStates = Object.keys(run).length > 0
  if (typeof item === "function" && !isXStates) problems.add("an action without a name")
  else if (isXStates) problems.add(`the action ${name}, which only XState performs`)
}
