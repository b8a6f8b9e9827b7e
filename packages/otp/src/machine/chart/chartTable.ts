/**
 * A machine compiled to a table: for each state and event, the guards to ask and the steps to take.
 *
 * Reads only the public members of XState's machines and state nodes. A machine is compiled once. A machine that uses a
 * feature the host does not perform has no table but the reasons; XState runs it.
 *
 * TABLE1. A table has the same result as XState's `transition` from the same state: state, context, children, and effects
 *         in order.
 * TABLE2. The host performs: nested states, guards and actions by name with parameters, eventless, delayed, internal and
 *         re-entering transitions, invoked actors by name, final states, and the built-in actions of `chartActions.ts`.
 */
import { type AnyActorLogic, type AnyStateMachine, type EventObject, StateMachine, type StateNode } from "xstate"
import { builtInOf } from "./chartActions.ts"
import { type ActorScope, childOptionsOf, effectOf, hostedActorOf } from "./hostedActors.ts"

/** The context of a chart. */
export type Context = Readonly<Record<string, unknown>>

/** The arguments of guards, parameters, inputs and outputs. */
export interface Args {
  readonly context: Context
  readonly event: EventObject
}

/** A function of the arguments, from a value or a function in a machine's configuration. */
type Resolve = (args: Args, params: unknown) => unknown

/** An implementation of a named action that is no built-in action. */
export type ActionFunction = (args: object, params: unknown) => void

/** An implementation of a named action that was made with `StateMachine.effect`. */
export type EffectFunction = (params: unknown, scope: ActorScope) => void

/** One step of a transition. */
export type Step =
  | { readonly kind: "assign"; readonly update: (args: Args, params: unknown) => Context; readonly params: Resolve }
  | { readonly kind: "raise"; readonly event: Resolve; readonly params: Resolve }
  | {
      readonly kind: "schedule"
      readonly id: string
      readonly event: Resolve
      readonly delay: Resolve
      readonly params: Resolve
    }
  | { readonly kind: "cancel"; readonly id: Resolve; readonly params: Resolve }
  | {
      readonly kind: "send"
      readonly to: Resolve
      /** The id of the child, if it is fixed. */
      readonly target: string | undefined
      readonly event: Resolve
      readonly params: Resolve
    }
  | { readonly kind: "sendParent"; readonly event: Resolve; readonly params: Resolve }
  | { readonly kind: "start"; readonly id: Resolve; readonly src: string; readonly input: Resolve }
  | { readonly kind: "stop"; readonly id: Resolve; readonly params: Resolve }
  | { readonly kind: "act"; readonly name: string; readonly run: ActionFunction; readonly params: Resolve }
  | { readonly kind: "effect"; readonly name: string; readonly run: EffectFunction; readonly params: Resolve }
  | { readonly kind: "completed"; readonly id: string; readonly output: Resolve }
  | { readonly kind: "done"; readonly output: Resolve }

/** A transition from one state: its condition, its steps, and the state after it. */
export interface Candidate {
  readonly holds: ((args: Args) => boolean) | undefined
  readonly steps: ReadonlyArray<Step>
  readonly leaf: Leaf
  /** Whether the transition changes the snapshot in any way but through a step. */
  readonly moves: boolean
}

/** A state without inner states. */
export interface Leaf {
  readonly node: StateNode
  readonly value: unknown
  readonly on: Map<string, ReadonlyArray<Candidate>>
  /** The transitions for every event whose type begins so (`done.*`), longest first. */
  readonly prefixes: Array<{ readonly prefix: string; readonly candidates: ReadonlyArray<Candidate> }>
  always: ReadonlyArray<Candidate>
  /** The exit steps of the machine, performed after it is done here. */
  readonly leave: ReadonlyArray<Step>
}

/** A delayed event that a state schedules when it is entered. */
export interface StateTimer {
  readonly id: string
  readonly delay: Resolve
}

const empty: Context = Object.freeze({})

const nothing: Resolve = () => undefined

const resolver = (value: unknown): Resolve =>
  typeof value === "function" ? (args, params) => (value as Resolve)(args, params) : () => value

/** The table of one machine. */
export class ChartTable {
  readonly machine: AnyStateMachine
  readonly initial: Omit<Candidate, "holds">
  readonly #leaves = new Map<StateNode, Leaf>()
  readonly #problems: Set<string>

  private constructor(machine: AnyStateMachine, problems: Set<string>) {
    this.machine = machine
    this.#problems = problems
    const { root } = machine
    for (const node of everyNode(root)) this.#check(node)
    if (problems.size > 0) {
      this.initial = { steps: [], leaf: this.#leaf(root), moves: true }
      return
    }
    const inner = descent(root)
    const leaf = this.#leaf(inner.at(-1) ?? root)
    this.initial = { steps: [root, ...inner].flatMap((node) => this.#entry(node, true)), leaf, moves: true }
    for (const known of this.#leaves.values()) this.#fill(known)
  }

  /** The table of a machine, or the reasons why XState runs it. */
  static of(machine: AnyStateMachine): ChartTable | ReadonlySet<string> {
    const known = tables.get(machine)
    if (known !== undefined) return known
    const problems = new Set<string>()
    const table = new ChartTable(machine, problems)
    const made = problems.size === 0 ? table : problems
    tables.set(machine, made)
    return made
  }

  /** The context of a new chart. */
  context(input: unknown): Context {
    const { context } = this.machine.config as { readonly context?: unknown }
    return typeof context === "function"
      ? { ...(context as (args: object) => Context)({ input }) }
      : ((context as Context | undefined) ?? empty)
  }

  /** The leaf of a state value, as XState writes it. */
  leafOf(value: unknown): Leaf {
    let node: StateNode = this.machine.root
    for (let rest = value; rest !== undefined;) {
      const [key, inner] = typeof rest === "string" ? [rest, undefined] : (Object.entries(rest as object)[0] ?? [])
      const next: StateNode | undefined = key === undefined ? undefined : node.states[key]
      if (next === undefined) break
      node = next
      rest = inner
    }
    return this.#leaf(descent(node).at(-1) ?? node)
  }

  /** The delayed events of an active leaf. */
  timersOf({ node }: Leaf): ReadonlyArray<StateTimer> {
    return lineage(node).flatMap((one) => delaysOf(one).map(({ id, delay }) => ({ id, delay: this.#delay(delay) })))
  }

  /** The logic of a named actor. */
  logic(src: string): AnyActorLogic | undefined {
    return (this.machine.implementations.actors as Readonly<Record<string, AnyActorLogic>>)[src]
  }

  #leaf(node: StateNode): Leaf {
    const known = this.#leaves.get(node)
    if (known !== undefined) return known
    const leave = lineage(node).flatMap((one) => this.#exitActions(one))
    const leaf: Leaf = { node, value: valueOf(node), on: new Map(), prefixes: [], always: [], leave }
    this.#leaves.set(node, leaf)
    return leaf
  }

  /** Adds the transitions of a leaf. New leaves that they lead to are filled by the caller's loop. */
  #fill(leaf: Leaf): void {
    const types = new Set(lineage(leaf.node).flatMap((node) => [...node.transitions.keys()]))
    for (const type of types) {
      const candidates = lineage(leaf.node).flatMap((node) => this.#candidates(leaf, node.transitions.get(type) ?? []))
      if (type.endsWith(".*")) leaf.prefixes.push({ prefix: type.slice(0, -1), candidates })
      else leaf.on.set(type, candidates)
    }
    leaf.prefixes.sort((one, other) => other.prefix.length - one.prefix.length)
    leaf.always = lineage(leaf.node).flatMap((node) => this.#candidates(leaf, node.always ?? []))
  }

  #candidates(leaf: Leaf, transitions: ReadonlyArray<AnyTransition>): ReadonlyArray<Candidate> {
    return transitions.map((transition) => {
      const path = this.#path(leaf, transition)
      return { holds: this.#guard(transition.guard), ...path, moves: path.leaf !== leaf }
    })
  }

  /** Exits and entries by the rules of SCXML, for one target and one active leaf. */
  #path(leaf: Leaf, transition: AnyTransition): Pick<Candidate, "steps" | "leaf"> {
    const actions = transition.actions.flatMap((item) => this.#action(item))
    const target = transition.target?.[0]
    if (target === undefined) return { steps: actions, leaf }
    const { source, reenter } = transition
    const isInner = target === source || isDescendant(target, source)
    const domain = !reenter && isInner ? source : commonAncestor(target, source)
    const isBelow = (node: StateNode) => domain === undefined || isDescendant(node, domain)
    const exits = lineage(leaf.node)
      .filter(isBelow)
      .flatMap((node) => this.#exit(node))
    const above = lineage(target).slice(1).filter(isBelow).toReversed()
    const inner = descent(target)
    const isEntered = source !== target || source !== domain || reenter
    const entries = [
      ...above.flatMap((node) => this.#entry(node, false)),
      ...(isEntered ? this.#entry(target, true) : []),
      ...inner.flatMap((node) => this.#entry(node, true))
    ]
    return { steps: [...exits, ...actions, ...entries], leaf: this.#leaf(inner.at(-1) ?? target) }
  }

  #exitActions(node: StateNode): ReadonlyArray<Step> {
    const timers = delaysOf(node).map(({ id }): Step => ({ kind: "cancel", id: () => id, params: nothing }))
    return [...itemsOf(node.config.exit).flatMap((item) => this.#action(item)), ...timers]
  }

  #exit(node: StateNode): ReadonlyArray<Step> {
    const stops = node.invoke.map(({ id }): Step => ({ kind: "stop", id: () => id, params: nothing }))
    return [...this.#exitActions(node), ...stops]
  }

  #entry(node: StateNode, byDefault: boolean): ReadonlyArray<Step> {
    const steps = itemsOf(node.config.entry).flatMap((item) => this.#action(item))
    for (const { id, delay } of delaysOf(node)) {
      steps.push({
        kind: "schedule",
        id,
        event: () => ({ type: id }),
        delay: this.#delay(delay),
        params: nothing
      })
    }
    for (const { id, src, input } of node.invoke) {
      steps.push({ kind: "start", id: () => id, src: src as string, input: resolver(input) })
    }
    if (byDefault && node.type === "compound") {
      steps.push(...(node.initial.actions as ReadonlyArray<unknown>).flatMap((item) => this.#action(item)))
    }
    if (node.type === "final") steps.push(...this.#completion(node))
    return steps
  }

  #completion(node: StateNode): ReadonlyArray<Step> {
    const { root } = this.machine
    const { parent } = node
    const output = resolver(node.output)
    const completed: ReadonlyArray<Step> = parent === undefined ? [] : [{ kind: "completed", id: parent.id, output }]
    if (parent?.parent !== undefined) return completed
    const last = { type: `xstate.done.state.${node.id}` }
    const result: Resolve = ({ context, event }, params) =>
      resolver(root.output)(
        {
          context,
          event: Object.assign({}, last, {
            output: parent === undefined ? undefined : output({ context, event }, params)
          })
        },
        params
      )
    return [...completed, { kind: "done", output: root.output === undefined ? nothing : result }]
  }

  #delay(delay: string | number): Resolve {
    if (typeof delay === "number") return () => delay
    const named = (this.machine.implementations.delays as Readonly<Record<string, unknown>>)[delay]
    return resolver(named ?? Number(delay))
  }

  #guard(item: unknown): Candidate["holds"] {
    if (item === undefined) return undefined
    const guard = this.#guardFunction(item) as ((args: Args, params: unknown) => boolean) | undefined
    if (guard === undefined) return undefined
    const params = typeof item === "object" ? (item as { readonly params?: unknown }).params : undefined
    if (params === undefined) return (args) => guard(args, undefined)
    const resolve = resolver(params)
    return (args) => guard(args, resolve(args, undefined))
  }

  #guardFunction(item: unknown): unknown {
    if (typeof item === "function") return item
    const name = typeof item === "string" ? item : (item as { readonly type: string }).type
    return (this.machine.implementations.guards as Readonly<Record<string, unknown>>)[name]
  }

  #implementation(item: unknown): { readonly name: string; readonly run: unknown; readonly params: Resolve } {
    if (typeof item === "function") return { name: item.name, run: item, params: nothing }
    const { actions } = this.machine.implementations as {
      readonly actions: Readonly<Record<string, unknown>>
    }
    if (typeof item === "string") return { name: item, run: actions[item], params: nothing }
    const { type, params } = item as { readonly type: string; readonly params?: unknown }
    return { name: type, run: actions[type], params: resolver(params) }
  }

  /** The steps of an action: none for one without an implementation. */
  #action(item: unknown): Array<Step> {
    const { name, run, params } = this.#implementation(item)
    if (typeof run !== "function") return []
    const builtIn = builtInOf(run)
    switch (builtIn?.kind) {
      case undefined: {
        const effect = effectOf(run)
        if (effect !== undefined) return [{ kind: "effect", name, run: effect, params }]
        return [{ kind: "act", name, run: run as ActionFunction, params }]
      }
      case "assign":
        return [{ kind: "assign", update: updateOf(builtIn.assignment), params }]
      case "raise": {
        const event = resolver(builtIn.event)
        if (builtIn.delay === undefined) return [{ kind: "raise", event, params }]
        const { delay, id } = builtIn
        const due = typeof delay === "string" ? this.#delay(delay) : resolver(delay)
        return [{ kind: "schedule", id: id ?? name, event, delay: due, params }]
      }
      case "cancel":
      case "stop":
        return [{ kind: builtIn.kind, id: resolver(builtIn.id), params }]
      case "send":
        return [
          {
            kind: "send",
            to: resolver(builtIn.to),
            target: typeof builtIn.to === "string" ? builtIn.to : undefined,
            event: resolver(builtIn.event),
            params
          }
        ]
      case "sendParent":
        return [{ kind: "sendParent", event: resolver(builtIn.event), params }]
      case "spawn":
        return [{ kind: "start", id: resolver(builtIn.id), src: builtIn.src, input: resolver(builtIn.input) }]
    }
  }

  /** Notes every feature of a state that the host does not perform. */
  #check(node: StateNode): void {
    const problems = this.#problems
    if (node.type === "parallel") problems.add("parallel states")
    if (node.type === "history") problems.add("history states")
    for (const { src, systemId, onSnapshot } of node.invoke as ReadonlyArray<AnyInvoke>) {
      if (typeof src !== "string" || src.startsWith("xstate.invoke.")) problems.add("an invoked actor without a name")
      if (systemId !== undefined) problems.add("systemId")
      if (onSnapshot !== undefined) problems.add("onSnapshot")
      if (typeof src === "string") this.#checkActor(src)
    }
    for (const [type, transitions] of node.transitions) {
      if (type.includes("*") && !this.#isOwnPrefix(node, type)) problems.add("wildcard transitions")
      for (const transition of transitions) this.#checkTransition(transition)
    }
    for (const transition of node.always ?? []) this.#checkTransition(transition)
    for (const item of [...itemsOf(node.config.entry), ...itemsOf(node.config.exit)]) this.#checkAction(item)
    for (const step of itemsOf(node.config.entry).flatMap((item) => this.#action(item))) {
      if (step.kind !== "send") continue
      const invoked = (node.invoke as ReadonlyArray<{ readonly id: string }>).map(({ id }) => id)
      const mayBeInvoked = step.target === undefined ? invoked.length > 0 : invoked.includes(step.target)
      if (mayBeInvoked) problems.add("an entry action that sends to an actor of its state")
    }
    if (node.type === "compound") for (const item of node.initial.actions) this.#checkAction(item)
  }

  /** Whether `type` is a prefix (`done.*`) that no other transition of the machine competes with. */
  #isOwnPrefix(node: StateNode, type: string): boolean {
    if (!type.endsWith(".*") || node !== this.machine.root || type.indexOf("*") < type.length - 1) return false
    const prefix = type.slice(0, -1)
    return everyNode(node).every((one) =>
      [...one.transitions.keys()].every((key) => key === type || !key.startsWith(prefix))
    )
  }

  #checkActor(src: string): void {
    const logic = this.logic(src)
    if (logic === undefined) this.#problems.add(`the actor ${src}, which has no implementation`)
    else if (logic instanceof StateMachine) {
      if (childOptionsOf(logic) === undefined) this.#problems.add(`the actor ${src}, which is not hosted`)
      const table = ChartTable.of(logic)
      if (!(table instanceof ChartTable)) for (const problem of table) this.#problems.add(`${src}: ${problem}`)
    } else if (hostedActorOf(logic) === undefined) this.#problems.add(`the actor ${src}, which only XState runs`)
  }

  #checkTransition({ target = [], guard, actions }: AnyTransition): void {
    const problems = this.#problems
    if (target.length > 1) problems.add("several targets")
    for (const item of actions) this.#checkAction(item)
    if (guard === undefined) return
    const found = this.#guardFunction(guard)
    if (typeof found !== "function") problems.add("a guard without an implementation")
    // XState's `and`, `or`, `not` and `stateIn` are functions with properties.
    else if (Object.keys(found).length > 0) problems.add("combined guards")
  }

  #checkAction(item: unknown): void {
    const { run } = this.#implementation(item)
    const builtIn = typeof run === "function" ? builtInOf(run) : undefined
    if (builtIn?.kind === "spawn") this.#checkActor(builtIn.src)
    if (typeof run !== "function" || builtIn !== undefined) return
    if (typeof item === "function") this.#problems.add("an action without a name")
    // XState's own actions are functions with properties.
    else if (Object.keys(run).length > 0) this.#problems.add("a built-in action of XState")
  }
}

const tables = new WeakMap<AnyStateMachine, ChartTable | ReadonlySet<string>>()

interface AnyTransition {
  readonly source: StateNode
  readonly target?: ReadonlyArray<StateNode> | undefined
  readonly reenter: boolean
  readonly actions: ReadonlyArray<unknown>
  readonly guard?: unknown
}

interface AnyInvoke {
  readonly src: unknown
  readonly systemId?: string | undefined
  readonly onSnapshot?: unknown
}

const itemsOf = (items: unknown): ReadonlyArray<unknown> =>
  items === undefined ? [] : Array.isArray(items) ? items : [items]

/** The delayed events of a state: each delay once. */
const delaysOf = (node: StateNode): ReadonlyArray<{ readonly id: string; readonly delay: string | number }> => {
  const delays = new Map<string, string | number>()
  for (const { delay, eventType } of node.after as ReadonlyArray<{
    readonly delay: string | number
    readonly eventType: string
  }>) {
    delays.set(eventType, delay)
  }
  return Array.from(delays, ([id, delay]) => ({ id, delay }))
}

/** The function that computes the changes of an `assign`. */
const updateOf = (assignment: unknown): ((args: Args, params: unknown) => Context) => {
  if (typeof assignment === "function") return assignment as (args: Args, params: unknown) => Context
  const entries = Object.entries(assignment as object).map(([key, value]) => [key, resolver(value)] as const)
  return (args, params) => {
    const changes: Record<string, unknown> = {}
    for (const [key, resolve] of entries) changes[key] = resolve(args, params)
    return changes
  }
}

const everyNode = (node: StateNode): ReadonlyArray<StateNode> => [
  node,
  ...Object.values<StateNode>(node.states).flatMap(everyNode)
]

/** A node and its ancestors, innermost first. */
const lineage = (node: StateNode): ReadonlyArray<StateNode> => [
  node,
  ...(node.parent === undefined ? [] : lineage(node.parent))
]

/** The states entered by default below a node. */
const descent = (node: StateNode): ReadonlyArray<StateNode> => {
  const first = node.type === "compound" ? (node.initial.target?.[0] as StateNode | undefined) : undefined
  if (first === undefined) return []
  const between = lineage(first)
    .slice(1)
    .filter((ancestor) => isDescendant(ancestor, node))
    .toReversed()
  return [...between, first, ...descent(first)]
}

const isDescendant = (node: StateNode, ancestor: StateNode): boolean =>
  node.parent !== undefined && (node.parent === ancestor || isDescendant(node.parent, ancestor))

/** The innermost state that properly contains both; `undefined` only if the root re-enters itself. */
const commonAncestor = (target: StateNode, source: StateNode): StateNode | undefined =>
  lineage(target)
    .slice(1)
    .find((ancestor) => isDescendant(source, ancestor))

const valueOf = (leaf: StateNode): unknown => {
  const [key, ...inner] = lineage(leaf)
    .slice(0, -1)
    .map((node) => node.key)
  return key === undefined ? {} : inner.reduce<unknown>((value, outer) => ({ [outer]: value }), key)
}
