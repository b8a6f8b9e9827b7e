/**
 * A machine prepared for running: the exits, actions and entries of each transition from each state, computed once.
 *
 * Only plain machines have a plan: one active leaf at a time (no parallel states), no history, ordinary guards on their
 * eventless transitions. XState itself runs the others.
 *
 * PLAN1. A plan has the same result as SCXML's algorithm, and XState, for the same transition from the same leaf.
 */
import { type AnyActorLogic, StateMachine } from "xstate"
import type {
  ActionFunction,
  ActionItem,
  Args,
  ChartSnapshot,
  Context,
  GuardItem,
  Invoke,
  Machine,
  Node,
  Transition
} from "./xstateMachine.ts"
import { readMachine } from "./xstateMachine.ts"

/** An action with its resolved implementation. */
export interface PlannedAction {
  readonly type: string
  readonly run: ActionFunction | undefined
  readonly params: (args: Args) => unknown
}

/** An eventless transition with its resolved guard. */
interface PlannedAlways {
  readonly transition: Transition
  readonly holds: (args: { readonly context: Context; readonly event: Args["event"] }) => boolean
}

/** An actor that a state invokes. */
interface PlannedInvoke {
  readonly invoke: Invoke
  /** The logic, if it was given inline and has no name. */
  readonly inline: AnyActorLogic | undefined
}

/** A state that a transition exits. */
export interface Exit {
  readonly actions: ReadonlyArray<PlannedAction>
  /** The ids of the actors it invoked. */
  readonly invoked: ReadonlyArray<string>
}

/** A state that a transition enters. */
export interface Entry {
  readonly node: Node
  readonly actions: ReadonlyArray<PlannedAction>
  readonly invokes: ReadonlyArray<PlannedInvoke>
  /** The ids of the actors it invokes, if any. */
  readonly deferred: ReadonlyArray<string> | undefined
  /** Run after the state's actors are invoked, if it is entered with its initial state. */
  readonly initialActions: ReadonlyArray<PlannedAction>
}

/** The steps of one transition out of one leaf. */
export interface Path {
  readonly exits: ReadonlyArray<Exit>
  readonly actions: ReadonlyArray<PlannedAction>
  readonly entries: ReadonlyArray<Entry>
  readonly leaf: Node
}

const none = (): undefined => undefined

const plans = new WeakMap<object, ChartPlan | "not plain">()

export class ChartPlan {
  readonly machine: Machine
  readonly initial: Path
  readonly #templates = new Map<Node, ChartSnapshot>()
  readonly #leaves = new WeakMap<ReadonlyArray<Node>, Node>()
  readonly #paths = new Map<Node, Map<Transition, Path>>()
  readonly #always = new Map<Node, ReadonlyArray<PlannedAlways>>()
  readonly #exits = new Map<Node, Exit>()

  /** The plan of a plain machine; `undefined` for any other logic. */
  static of(logic: AnyActorLogic): ChartPlan | undefined {
    if (!(logic instanceof StateMachine)) return undefined
    const known = plans.get(logic)
    if (known !== undefined) return known === "not plain" ? undefined : known
    const machine = readMachine(logic)
    const plan = isPlain(machine) ? new ChartPlan(machine) : undefined
    plans.set(logic, plan ?? "not plain")
    return plan
  }

  private constructor(machine: Machine) {
    this.machine = machine
    const { root } = machine
    const inner = descent(root)
    this.initial = {
      exits: [],
      actions: [],
      entries: [root, ...inner].map((node) => this.#entry(node, true)),
      leaf: inner.at(-1) ?? root
    }
  }

  /** XState's own snapshot of a leaf, without context and children. */
  template(leaf: Node): ChartSnapshot {
    const known = this.#templates.get(leaf)
    if (known !== undefined) return known
    const template = this.machine.resolveState({ value: valueOf(leaf), context: {} })
    this.#templates.set(leaf, template)
    return template
  }

  /** The leaf of a snapshot. Snapshots of one leaf share their nodes. */
  leaf({ _nodes: nodes }: ChartSnapshot): Node {
    const known = this.#leaves.get(nodes)
    if (known !== undefined) return known
    const leaf = nodes.find(({ type }) => type === "atomic" || type === "final") ?? this.machine.root
    this.#leaves.set(nodes, leaf)
    return leaf
  }

  /** The steps of a transition that was selected while `leaf` was active. */
  path(leaf: Node, transition: Transition): Path {
    const paths = this.#paths.get(leaf) ?? new Map<Transition, Path>()
    this.#paths.set(leaf, paths)
    const known = paths.get(transition)
    if (known !== undefined) return known
    const path = this.#find(leaf, transition)
    paths.set(transition, path)
    return path
  }

  /** The eventless transitions of a leaf and its ancestors, in the order in which they are tried. */
  always(leaf: Node): ReadonlyArray<PlannedAlways> {
    const known = this.#always.get(leaf)
    if (known !== undefined) return known
    const always = lineage(leaf).flatMap((node) =>
      (node.always ?? []).map((transition) => ({ transition, holds: this.#guard(transition.guard) }))
    )
    this.#always.set(leaf, always)
    return always
  }

  /** The steps of leaving a state. */
  exit(node: Node): Exit {
    const known = this.#exits.get(node)
    if (known !== undefined) return known
    const exit = { actions: node.exit.map((item) => this.action(item)), invoked: node.invoke.map(({ id }) => id) }
    this.#exits.set(node, exit)
    return exit
  }

  /** An action with its implementation. */
  action(item: ActionItem): PlannedAction {
    const { actions } = this.machine.implementations
    if (typeof item === "function") return { type: item.type ?? (item.name || "(anonymous)"), run: item, params: none }
    if (typeof item === "string") return { type: item, run: actions[item], params: none }
    const { params } = item
    return {
      type: item.type,
      run: actions[item.type],
      params: typeof params === "function" ? (args) => (params as (args: Args) => unknown)(args) : () => params
    }
  }

  #entry(node: Node, byDefault: boolean): Entry {
    const initial = byDefault && node.type === "compound" ? node.initial.actions : []
    const { invoke: invokes } = node
    return {
      node,
      actions: node.entry.map((item) => this.action(item)),
      invokes: invokes.map((invoke, index) => ({ invoke, inline: inlineActor(node, invoke, index) })),
      deferred: invokes.length === 0 ? undefined : invokes.map(({ id }) => id),
      initialActions: initial.map((item) => this.action(item))
    }
  }

  #guard(item: GuardItem | undefined): PlannedAlways["holds"] {
    if (item === undefined) return () => true
    const guard = guardOf(this.machine, item)
    if (guard === undefined) throw new TypeError(`a guard of ${this.machine.id} is not implemented`)
    const params = typeof item === "object" ? item.params : undefined
    if (typeof params !== "function") return (args) => guard(args, params)
    return (args) => guard(args, (params as (args: unknown) => unknown)(args))
  }

  /** Exits and entries by the rules of SCXML, for one target and one active leaf. */
  #find(leaf: Node, transition: Transition): Path {
    const actions = transition.actions.map((item) => this.action(item))
    const target = transition.target?.[0]
    if (target === undefined) return { exits: [], actions, entries: [], leaf }
    const { source, reenter } = transition
    const isInner = target === source || isDescendant(target, source)
    const domain = !reenter && isInner ? source : commonAncestor(target, source)
    const exits = lineage(leaf)
      .filter((node) => domain === undefined || isDescendant(node, domain))
      .map((node) => this.exit(node))
    const entersTarget = source !== target || source !== domain || reenter
    const above = lineage(target)
      .slice(1)
      .filter((node) => domain === undefined || isDescendant(node, domain))
      .toReversed()
    const inner = descent(target)
    return {
      exits,
      actions,
      entries: [
        ...above.map((node) => this.#entry(node, false)),
        ...(entersTarget ? [this.#entry(target, true)] : []),
        ...inner.map((node) => this.#entry(node, true))
      ],
      leaf: inner.at(-1) ?? target
    }
  }
}

/** The logic of an invoke that was given inline and has no name. */
const inlineActor = (node: Node, { src }: Invoke, index: number): AnyActorLogic | undefined => {
  if (typeof src !== "string" || !src.startsWith("xstate.invoke.")) return undefined
  const { invoke } = node.config
  const own = (Array.isArray(invoke) ? invoke[index] : invoke) as { readonly src?: unknown } | undefined
  return typeof own?.src === "string" ? undefined : (own?.src as AnyActorLogic | undefined)
}

const guardOf = (machine: Machine, item: GuardItem) => {
  if (typeof item === "function") return item
  return machine.implementations.guards[typeof item === "string" ? item : item.type]
}

const isPlain = (machine: Machine): boolean => {
  const nodes = everyNode(machine.root)
  return (
    (machine.options?.maxIterations ?? Infinity) === Infinity &&
    nodes.every(({ type }) => type !== "parallel" && type !== "history") &&
    nodes.every(({ always = [] }) =>
      always.every(({ guard, target = [] }) => {
        const known = guard === undefined ? undefined : guardOf(machine, guard)
        return target.length <= 1 && (guard === undefined || (known !== undefined && known.check === undefined))
      })
    )
  )
}

const everyNode = (node: Node): ReadonlyArray<Node> => [node, ...Object.values(node.states).flatMap(everyNode)]

/** A node and its ancestors, innermost first. */
const lineage = (node: Node): ReadonlyArray<Node> => [node, ...(node.parent === undefined ? [] : lineage(node.parent))]

/** The states entered by default below a node. */
const descent = (node: Node): ReadonlyArray<Node> => {
  const first = node.type === "compound" ? node.initial.target?.[0] : undefined
  if (first === undefined) return []
  const between = lineage(first)
    .slice(1)
    .filter((ancestor) => isDescendant(ancestor, node))
    .toReversed()
  return [...between, first, ...descent(first)]
}

const isDescendant = (node: Node, ancestor: Node): boolean =>
  node.parent !== undefined && (node.parent === ancestor || isDescendant(node.parent, ancestor))

/** The innermost state that properly contains both; `undefined` only if the root re-enters itself. */
const commonAncestor = (target: Node, source: Node): Node | undefined =>
  lineage(target)
    .slice(1)
    .find((ancestor) => isDescendant(source, ancestor))

const valueOf = (leaf: Node): unknown => {
  const [key, ...inner] = lineage(leaf)
    .slice(0, -1)
    .map((node) => node.key)
  return key === undefined ? {} : inner.reduce<unknown>((value, outer) => ({ [outer]: value }), key)
}
