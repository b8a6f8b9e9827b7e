/**
 * A machine compiled to a table: for each state and event, the guards to ask and the steps to take. A row is compiled when it is first
 * needed: a chart enters few of its states in the first second of a program.
 *
 * Reads only the public members of XState's machines and state nodes. A row is compiled once. A machine that uses a
 * feature the host does not perform has no table but the reasons; XState runs it.
 *
 * CTABLE1. A table has the same result as XState's `transition` from the same state: state, context, children, and effects
 *          in order.
 * CTABLE2. The host performs: nested states, guards and actions by name with parameters, eventless, delayed, internal and
 *          re-entering transitions, invoked actors by name, final states, and the built-in actions of `chartActions.ts`.
 *          A transition of the root may be for all events with a prefix (`name.*`), if no other transition is for one of
 *          them.
 * STRICT1. Strict code gets a frozen context and event. Reading `self` or `system` throws, and so does passing on the
 *          context itself, which later transitions of a hosted chart would change.
 */
import type { AnyStateMachine, StateNode } from "xstate"
import type {
  ActionFunction,
  Candidate,
  Context,
  EffectFunction,
  Leaf,
  Resolve,
  StateTimer,
  Step,
  Transition,
  Args
} from "./chartStep.ts"
import { actionNamed, actorNamed, delayNamed, guardNamed } from "./namedCode.ts"
import { commonAncestor, delaysOf, descent, isDescendant, itemsOf, lineage, valueOf } from "./stateTree.ts"
import { effectOf, type HostedActor, hostedActorOf } from "./hostedActors.ts"
import { answer } from "./queueActions.ts"
import { postponing } from "./eventQueue.ts"
import { problemsOf, usesQueue } from "./hostable.ts"

const empty: Context = Object.freeze({})

const none: ReadonlyArray<Candidate> = []

const nothing: Resolve = () => undefined

const blank = {
  kind: undefined,
  params: undefined,
  update: undefined,
  event: undefined,
  id: undefined,
  actor: undefined,
  delay: undefined,
  to: undefined,
  src: undefined,
  input: undefined,
  name: undefined,
  run: undefined,
  output: undefined
}

/** The same step with all properties of all steps, so that the code that performs steps sees one layout. */
const rowOf = (step: Step): Step => ({ ...blank, ...step })

interface AnyTransition {
  readonly source: StateNode
  readonly target?: ReadonlyArray<StateNode> | undefined
  readonly reenter: boolean
  readonly actions: ReadonlyArray<unknown>
  readonly guard?: unknown
}

/** The table of one machine. */
export class ChartTable {
  readonly machine: AnyStateMachine
  /** Whether the functions of the machine are called with checks (STRICT1). */
  readonly strict: boolean
  readonly initial: Transition
  /** Whether the machine uses the actions of `queueActions.ts`. */
  readonly hasQueue: boolean
  readonly #code: ChartCode
  readonly #leaves = new Map<StateNode, Leaf>()

  private constructor(machine: AnyStateMachine, strict: boolean) {
    this.machine = machine
    this.strict = strict
    this.#code = strict ? strictCode : plainCode
    const { root } = machine
    const inner = descent(root)
    const leaf = this.#leaf(inner.at(-1) ?? root)
    this.initial = { steps: [root, ...inner].flatMap((node) => this.#entry(node, true).map(rowOf)), leaf, moves: true }
    this.hasQueue = usesQueue(machine)
  }

  /** The table of a machine, or the reasons why XState runs it. */
  static of(machine: AnyStateMachine, strict = false): ChartTable | ReadonlySet<string> {
    const made = strict ? strictTables : tables
    const built = made.get(machine)
    if (built !== undefined) return built
    const problems = problemsOf(machine)
    const table = problems.size === 0 ? new ChartTable(machine, strict) : problems
    made.set(machine, table)
    return table
  }

  /** The context of a new chart. */
  context(input: unknown): Context {
    const { context } = this.machine.config as { readonly context?: unknown }
    if (typeof context !== "function") return (context as Context | undefined) ?? empty
    return (context as (args: object) => Context)({ input })
  }

  /** The leaf of a state value, as XState writes it. Throws a `TypeError` for a state that the machine does not have. */
  leafOf(value: unknown): Leaf {
    let node: StateNode = this.machine.root
    for (let rest = value; rest !== undefined;) {
      const [key, inner] = typeof rest === "string" ? [rest, undefined] : (Object.entries(rest as object)[0] ?? [])
      const next: StateNode | undefined = key === undefined ? undefined : node.states[key]
      if (next === undefined && key !== undefined) {
        throw new TypeError(`The machine ${this.machine.id} has no state ${[...node.path, key].join(".")}`)
      }
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

  /** A named actor. Throws a `TypeError` for one that the machine does not have. */
  actor(src: string): HostedActor {
    const logic = actorNamed(this.machine, src)
    const actor = logic === undefined ? undefined : hostedActorOf(logic)
    if (actor === undefined) throw new TypeError(`The machine ${this.machine.id} has no actor ${src}`)
    return actor
  }

  /** The transitions of a leaf for events of a type. They are compiled when the first such event comes. */
  transitions(leaf: Leaf, type: string): ReadonlyArray<Candidate> {
    const known = leaf.on.get(type)
    if (known !== undefined) return known
    const types = (leaf.types ??= new Set(lineage(leaf.node).flatMap((node) => [...node.transitions.keys()])))
    if (types.has(type)) return this.#add(leaf, type)
    for (const one of types) {
      if (one.endsWith(".*") && type.startsWith(one.slice(0, -1))) return leaf.on.get(one) ?? this.#add(leaf, one)
    }
    return none
  }

  /** The eventless transitions of a leaf. */
  eventless(leaf: Leaf): ReadonlyArray<Candidate> {
    return (leaf.always ??= lineage(leaf.node).flatMap((node) =>
      this.#candidates(leaf, node, node.always ?? [], undefined)
    ))
  }

  /** The exit steps of the machine, performed after it is done in a leaf. */
  exits(leaf: Leaf): ReadonlyArray<Step> {
    return (leaf.leave ??= lineage(leaf.node).flatMap((one) => this.#exitActions(one).map(rowOf)))
  }

  #add(leaf: Leaf, type: string): ReadonlyArray<Candidate> {
    const candidates = lineage(leaf.node).flatMap((node) =>
      this.#candidates(leaf, node, node.transitions.get(type) ?? [], type)
    )
    leaf.on.set(type, candidates)
    return candidates
  }

  #leaf(node: StateNode): Leaf {
    const child = this.#leaves.get(node)
    if (child !== undefined) return child
    const leaf: Leaf = {
      node,
      value: valueOf(node),
      on: new Map(),
      types: undefined,
      always: undefined,
      leave: undefined
    }
    this.#leaves.set(node, leaf)
    return leaf
  }

  #candidates(
    leaf: Leaf,
    node: StateNode,
    transitions: ReadonlyArray<AnyTransition>,
    type: string | undefined
  ): ReadonlyArray<Candidate> {
    return transitions.map((transition) => {
      const path = this.#path(leaf, transition)
      const steps = path.steps.map(rowOf)
      return { ...this.#guard(transition.guard, node, type), steps, leaf: path.leaf, moves: path.leaf !== leaf }
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
    const timers = delaysOf(node).map(({ id }): Step => ({ kind: "cancel", id, params: undefined }))
    return [...itemsOf(node.config.exit).flatMap((item) => this.#action(item)), ...timers]
  }

  #exit(node: StateNode): ReadonlyArray<Step> {
    const stops = node.invoke.map(({ id }): Step => ({ kind: "stop", id, params: undefined }))
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
        params: undefined
      })
    }
    for (const { id, src, input } of node.invoke) {
      steps.push({
        kind: "start",
        id,
        src: src as string,
        actor: this.actor(src as string),
        input: input === undefined ? undefined : this.#code.resolver(input),
        params: undefined
      })
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
    const output = this.#code.output(node.output)
    const outputOfRoot = this.#code.output(root.output)
    const completed: ReadonlyArray<Step> =
      parent === undefined ? [] : [{ kind: "completed", id: parent.id, output, params: undefined }]
    if (parent?.parent !== undefined) return completed
    const last = { type: `xstate.done.state.${node.id}` }
    const result: Resolve = ({ context, event }, params) =>
      outputOfRoot(
        {
          context,
          event: Object.assign({}, last, {
            output: parent === undefined ? undefined : output({ context, event }, params)
          })
        },
        params
      )
    return [...completed, { kind: "done", output: root.output === undefined ? nothing : result, params: undefined }]
  }

  #delay(delay: string | number): Resolve {
    return this.#code.resolver(delayNamed(this.machine, delay))
  }

  /** The condition of a transition, whose error names it as XState does. */
  #guard(item: unknown, node: StateNode, type: string | undefined): Omit<Candidate, keyof Transition> {
    if (item === undefined) return { guard: undefined, params: undefined, guardError: undefined }
    const guard = this.#code.guard(guardNamed(this.machine, item))
    const object = typeof item === "object" ? (item as { readonly type: string; readonly params?: unknown }) : undefined
    const params = object?.params === undefined ? undefined : this.#code.resolver(object.params)
    const name = object?.type ?? (typeof item === "string" ? item : "")
    const guardError = type === undefined ? undefined : (cause: unknown) => errorOfGuard(cause, name, type, node)
    return { guard, params, guardError }
  }

  /** An id, or a function that returns it. */
  #id(id: unknown): string | Resolve {
    return typeof id === "string" ? id : this.#code.resolver(id)
  }

  /** The steps of an action: none for one without an implementation. */
  #action(item: unknown): Array<Step> {
    const { name, run, params: given, builtIn } = actionNamed(this.machine, item)
    if (typeof run !== "function") return []
    const { resolver, update } = this.#code
    const params = given === undefined ? undefined : resolver(given)
    switch (builtIn?.kind) {
      case undefined: {
        const effect = effectOf(run)
        if (effect !== undefined) return [{ kind: "effect", name, run: effect, params }]
        return [{ kind: "act", name, run: run as ActionFunction, params }]
      }
      case "assign":
        return [{ kind: "assign", update: update(builtIn.assignment), params }]
      case "raise": {
        const { delay, id } = builtIn
        const event = resolver(builtIn.event)
        if (delay === undefined) return [{ kind: "raise", event, params }]
        const due = typeof delay === "string" ? this.#delay(delay) : resolver(delay)
        return [{ kind: "schedule", id, event, delay: due, params }]
      }
      case "postpone":
        return [{ kind: "assign", update: ({ context, event }) => postponing(context, event), params }]
      case "insert":
        return [{ kind: "insert", event: resolver(builtIn.event), params }]
      case "timeout": {
        const { id, event, delay } = builtIn
        const set: Step = { kind: "timeout", id, event: resolver(event), delay: resolver(delay), params }
        return [{ kind: "cancel", id, params: undefined }, set]
      }
      case "reply": {
        const [value, to] = [resolver(builtIn.value), resolver(builtIn.to)]
        const code: Resolve = (args) => {
          const own = params?.(args, undefined)
          return { value: value(args, own), to: to(args, own) }
        }
        return [{ kind: "effect", name, run: answerWith, params: code }]
      }
      case "cancel":
      case "stop":
        return [{ kind: builtIn.kind, id: this.#id(builtIn.id), params }]
      case "send":
        return [{ kind: "send", to: resolver(builtIn.to), event: resolver(builtIn.event), params }]
      case "sendParent":
        return [{ kind: "sendParent", event: resolver(builtIn.event), params }]
      case "spawn": {
        const { id, src, input } = builtIn
        const code = input === undefined ? undefined : resolver(input)
        return [{ kind: "start", id: this.#id(id), src, actor: this.actor(src), input: code, params }]
      }
    }
  }
}

const answerWith: EffectFunction = (params) => {
  const { to, value } = params as { readonly to: unknown; readonly value: unknown }
  answer(to, value)
}

const tables = new WeakMap<AnyStateMachine, ChartTable | ReadonlySet<string>>()
const strictTables = new WeakMap<AnyStateMachine, ChartTable | ReadonlySet<string>>()

const errorOfGuard = (cause: unknown, name: string, type: string, node: StateNode): Error => {
  const of = name === "" ? "" : `'${name}' `
  const message = cause instanceof Error ? cause.message : String(cause)
  return new Error(
    `Unable to evaluate guard ${of}in transition for event '${type}' in state node '${node.id}':\n${message}`,
    { cause }
  )
}

/** How a table calls the functions of a configuration. */
interface ChartCode {
  /** A value, or a function of the arguments. */
  readonly resolver: (value: unknown) => Resolve
  /** The same for an output, which may contain the context: no transition follows it. */
  readonly output: (value: unknown) => Resolve
  /** The function that computes the changes of an `assign`. */
  readonly update: (assignment: unknown) => (args: Args, params: unknown) => Context
  readonly guard: (guard: unknown) => (args: Args, params: unknown) => boolean
}

type Call = (args: Args, params: unknown) => unknown

const codeOf = (call: (run: Call, mayShare: boolean) => Call): ChartCode => {
  const resolving = (value: unknown, mayShare: boolean): Resolve =>
    typeof value === "function" ? call(value as Call, mayShare) : () => value
  return {
    resolver: (value) => resolving(value, false),
    output: (value) => resolving(value, true),
    guard: (guard) => call(guard as Call, true) as (args: Args, params: unknown) => boolean,
    update: (assignment) => {
      if (typeof assignment === "function") return call(assignment as Call, true) as ReturnType<ChartCode["update"]>
      const entries = Object.entries(assignment as object).map(([key, value]) => [key, resolving(value, true)] as const)
      return (args, params) => {
        const changes: Record<string, unknown> = {}
        for (const [key, resolve] of entries) changes[key] = resolve(args, params)
        return changes
      }
    }
  }
}

/** Calls the functions as they are. */
const plainCode = codeOf((run) => run)

/** Freezes data at every depth. */
const freeze = <A>(value: A): A => {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const inner of Object.values(value)) freeze(inner)
  return value
}

const absent = (name: string): PropertyDescriptor => ({
  get: () => {
    throw new TypeError(`The code of a hosted machine has no ${name}`)
  }
})

const absences = { self: absent("self"), system: absent("system"), spawn: absent("spawn") }

/** Whether a value is the context, or has it as a property. */
const shares = (value: unknown, context: Context): boolean =>
  value === context || (typeof value === "object" && value !== null && Object.values(value).includes(context))

/** Arguments whose `self`, `system` and `spawn` throw (STRICT1). */
export const strictArgs = <A extends object>(args: A): A => Object.defineProperties(args, absences)

/** Calls the functions with checks (STRICT1). */
const strictCode = codeOf((run, mayShare) => (args, params) => {
  const { context } = args
  const result = run(strictArgs({ context: freeze(context), event: freeze(args.event) }), freeze(params))
  if (!mayShare && shares(result, context)) {
    throw new TypeError("The code of a hosted machine passes on its context: pass the fields that are needed")
  }
  return result
})
