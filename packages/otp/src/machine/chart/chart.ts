/**
 * One running chart: its active state, its context, and its children by name.
 *
 * Owns only data. A transition changes the data and adds effects to a list; it performs none of them. Time does not enter
 * except as the delays of scheduled events.
 *
 * CSTEP1. Exits come first, innermost first; then the transition's actions; then entries, outermost first. Each action
 *         reads the context that earlier actions left.
 * CSTEP2. Eventless transitions come before raised events, and are tried again after each step that changed something.
 * CSTEP3. A final state of the machine ends it: all exit actions run, then all children are stopped.
 * CSTEP4. The error of a child that no transition handles ends the chart with that error.
 * CSTEP5. A context that was handed out never changes: the next `assign` copies it.
 */
import type {
  ActionFunction,
  Args,
  Candidate,
  Context,
  EffectFunction,
  Leaf,
  Resolve,
  Step,
  Transition
} from "./chartStep.ts"
import type { ChartTable } from "./chartTable.ts"
import { EventQueue } from "./eventQueue.ts"
import type { EventObject } from "xstate"
import type { HostedActor } from "./hostedActors.ts"

/**
 * An effect of a transition, in order. `effect` and `act` are named actions. `replace` is the end of a child whose id
 * another one takes.
 */
export type ChartEffect =
  | ChildStart
  | { readonly kind: "stop" | "replace"; readonly child: ChildStart }
  | { readonly kind: "send"; readonly child: ChildStart; readonly event: EventObject }
  | { readonly kind: "sendParent"; readonly event: EventObject }
  | { readonly kind: "schedule"; readonly id: string | undefined; readonly event: EventObject; readonly ms: number }
  | { readonly kind: "cancel"; readonly id: string }
  | {
      readonly kind: "act"
      readonly name: string
      readonly run: ActionFunction
      readonly params: unknown
      readonly args: Args
    }
  | { readonly kind: "effect"; readonly name: string; readonly run: EffectFunction; readonly params: unknown }

/** The state of a chart as data. */
export interface ChartData {
  readonly status: ChartStatus
  readonly value: unknown
  readonly context: Context
  readonly output: unknown
  readonly error: unknown
}

export type ChartStatus = "active" | "done" | "error" | "stopped"

const beginning: EventObject = { type: "xstate.init" }

const empty: Context = Object.freeze({})

/** The arguments between events: an idle chart keeps no event alive. */
const idle: Args = { context: empty, event: beginning }

/** Whether a value is an object, or has it as a property. */
const isOrHas = (value: unknown, object: Context): boolean => {
  if (value === object) return true
  if (typeof value !== "object" || value === null) return false
  for (const key in value) if ((value as Context)[key] === object) return true
  return false
}

/** The first transition whose guard holds. */
const select = (candidates: ReadonlyArray<Candidate>, args: Args): Candidate | undefined => {
  for (let at = 0; at < candidates.length; at++) {
    const candidate = candidates[at] as Candidate
    const { guard, params } = candidate
    if (guard === undefined) return candidate
    try {
      if (guard(args, params === undefined ? undefined : params(args, undefined))) return candidate
    } catch (error) {
      throw candidate.guardError?.(error) ?? error
    }
  }
  return undefined
}

/** The transition for the event that is handled. */
const selectFor = (table: ChartTable, leaf: Leaf, args: Args): Candidate | undefined =>
  select(table.transitions(leaf, args.event.type), args)

const doneEvent = (id: string, output: unknown): EventObject =>
  Object.assign({ type: `xstate.done.state.${id}` }, { output })

const unableToSend = (to: string, { machine }: ChartTable): Error =>
  new Error(`Unable to send event to actor '${to}' from machine '${machine.id}'.`)

const textOf = (id: string | Resolve, args: Args, params: unknown): string =>
  typeof id === "string" ? id : (id(args, params) as string)

/** The id of an actor that `stopChild` names by its id or by its reference. */
const idOf = (target: unknown): string | undefined =>
  typeof target === "string" ? target : (target as { readonly id?: string } | undefined)?.id

export class Chart {
  readonly table: ChartTable
  status: ChartStatus = "active"
  output: unknown = undefined
  error: unknown = undefined
  #children: ChartChildren = undefined
  #leaf: Leaf
  #context: Context
  /** The context and the event that is handled, as code gets them: a new object for each event and copy of the context. */
  #args: Args = idle
  /** Whether no other code holds the context object (CSTEP5). */
  #isOwned = false
  #raised: Array<EventObject> | undefined = undefined
  /** The queue of the event that is handled. */
  #queue: EventQueue | undefined = undefined

  private constructor(table: ChartTable, leaf: Leaf, context: Context) {
    this.table = table
    this.#leaf = leaf
    this.#context = context
  }

  /** Starts a chart. Throws what its context, guards or actions throw. */
  static start(table: ChartTable, input: unknown, effects: Array<ChartEffect>): Chart {
    const chart = Chart.make(table)
    chart.begin(input, effects)
    return chart
  }

  /** A chart before its first transition. */
  static make(table: ChartTable): Chart {
    return new Chart(table, table.initial.leaf, empty)
  }

  /** A chart with this state, whose children are not started. */
  static restore(table: ChartTable, { status, value, context, output, error }: ChartData): Chart {
    const chart = new Chart(table, table.leafOf(value), context)
    chart.status = status
    chart.output = output
    chart.error = error
    return chart
  }

  /** Enters the initial state. */
  begin(input: unknown, effects: Array<ChartEffect>): void {
    const { table } = this
    this.#context = table.context(input)
    this.#args = { context: this.#context, event: Object.assign({}, beginning, { input }) }
    const enter = (): boolean => this.#settle(table.initial, effects)
    if (table.hasQueue) this.#withQueue(effects, (queue) => queue.begin(enter))
    else enter()
  }

  /** The children that the chart did not stop, in the order of their start. */
  get children(): Iterable<ChildStart> {
    return childrenOf(this.#children)
  }

  /** The active state, as XState writes it. */
  get value(): unknown {
    return this.#leaf.value
  }

  /** The active state without inner states. */
  get leaf(): Leaf {
    return this.#leaf
  }

  get context(): Context {
    this.#isOwned = false
    return this.#context
  }

  /** The context until the next transition, which may change it. */
  get current(): Context {
    return this.#context
  }

  /** Handles an event; returns whether the chart changed. Throws what guards and actions throw. */
  send(event: EventObject, effects: Array<ChartEffect>): boolean {
    if (this.status !== "active") return false
    if (this.table.hasQueue) return this.#withQueue(effects, (queue) => queue.take(event))
    return this.#take(event, effects)
  }

  #take(event: EventObject, effects: Array<ChartEffect>): boolean {
    this.#args = { context: this.#context, event }
    const selected = selectFor(this.table, this.#leaf, this.#args)
    if (selected === undefined && event.type.startsWith("xstate.error.actor.")) {
      this.#stopChildren(effects)
      this.fail((event as { readonly error?: unknown }).error)
      return true
    }
    return this.#settle(selected, effects)
  }

  /** Takes events in the order of their queue. */
  #withQueue(effects: Array<ChartEffect>, run: (queue: EventQueue) => void): boolean {
    let isChanged = false
    const queue = new EventQueue({
      isActive: () => this.status === "active",
      state: () => this.#leaf,
      context: () => this.#context,
      replaceContext: (context) => this.replace(this.value, context),
      take: (event) => (isChanged = this.#take(event, effects) || isChanged),
      cancel: (id) => void effects.push({ kind: "cancel", id })
    })
    this.#queue = queue
    run(queue)
    this.#queue = undefined
    return isChanged
  }

  /** Adds a child, also of a restored chart; returns the one whose id it takes. */
  adopt(start: ChildStart): ChildStart | undefined {
    const replaced = childIn(this.#children, start.id)
    this.#children = withChild(this.#children, start)
    return replaced
  }

  /** Replaces the state and the context. */
  replace(value: unknown, context: Context): void {
    this.#leaf = this.table.leafOf(value)
    this.#context = context
    this.#isOwned = false
  }

  /** Ends the chart with an error, of its own code or of a child. */
  fail(error: unknown): void {
    this.status = "error"
    this.error = error
    this.#raised = undefined
    this.#queue = undefined
  }

  /** Ends the chart from outside, if it has not ended, and forgets its children. */
  stop(): void {
    if (this.status === "active") this.status = "stopped"
    this.#children = undefined
  }

  /**
   * Takes a transition, then eventless ones and those of raised events, until there are none (CSTEP2). Returns whether the
   * chart changed.
   */
  #settle(first: Transition | undefined, effects: Array<ChartEffect>): boolean {
    let selected = first
    let isEventless = false
    let isChanged = false
    for (;;) {
      let changes = false
      if (selected !== undefined) {
        this.#leaf = selected.leaf
        changes = this.#perform(selected.steps, effects) || selected.moves
        isChanged ||= changes
      }
      if (this.status !== "active") break
      const always = this.table.eventless(this.#leaf)
      selected = always.length > 0 && (changes || !isEventless) ? select(always, this.#args) : undefined
      isEventless = selected !== undefined
      if (isEventless) continue
      const raised = this.#raised?.shift()
      if (raised === undefined) {
        this.#args = idle
        return isChanged
      }
      this.#args = { context: this.#context, event: raised }
      selected = selectFor(this.table, this.#leaf, this.#args)
    }
    this.#perform(this.table.exits(this.#leaf), effects)
    this.#args = idle
    this.#raised = undefined
    this.#stopChildren(effects)
    return true
  }

  /** Performs steps in order; returns whether they changed the chart. */
  #perform(steps: ReadonlyArray<Step>, effects: Array<ChartEffect>): boolean {
    let changes = false
    for (let at = 0; at < steps.length; at++) {
      const step = steps[at] as Step
      const args = this.#args
      const params = step.params === undefined ? undefined : step.params(args, undefined)
      switch (step.kind) {
        case "assign":
          this.#assign(step.update(args, params))
          changes = true
          break
        case "raise":
          this.#raise(this.#event(step, args, params))
          break
        case "act":
          this.#isOwned = false
          effects.push({ kind: "act", name: step.name, run: step.run, params, args })
          break
        case "effect":
          if (params !== undefined) this.#resolved(params)
          effects.push({ kind: "effect", name: step.name, run: step.run, params })
          break
        case "start": {
          const { actor, src } = step
          const id = textOf(step.id, args, params)
          const input = step.input === undefined ? undefined : this.#resolved(step.input(args, params))
          const start: ChildStart = { kind: "start", id, src, actor, input, live: undefined }
          const child = this.adopt(start)
          if (child !== undefined) effects.push({ kind: "replace", child })
          changes = true
          effects.push(start)
          break
        }
        case "stop": {
          const target: unknown = typeof step.id === "string" ? step.id : step.id(args, params)
          const child = childIn(this.#children, idOf(target))
          if (child === undefined) break
          this.#children = withoutChild(this.#children, child.id)
          changes = true
          effects.push({ kind: "stop", child })
          break
        }
        case "send": {
          const to = step.to(args, params) as string
          const child = childIn(this.#children, to)
          if (child === undefined) throw unableToSend(to, this.table)
          effects.push({ kind: "send", child, event: this.#event(step, args, params) })
          break
        }
        case "sendParent":
          effects.push({ kind: "sendParent", event: this.#event(step, args, params) })
          break
        case "schedule": {
          const event = this.#event(step, args, params)
          const ms = step.delay(args, params)
          if (typeof ms === "number") effects.push({ kind: "schedule", id: step.id, event, ms })
          else this.#raise(event)
          break
        }
        case "insert":
          this.#queue?.insert(this.#event(step, args, params))
          break
        case "timeout": {
          const event = this.#event(step, args, params)
          const ms = step.delay(args, params)
          if (this.#queue?.setTimeout(step.id, event, ms) === true)
            effects.push({ kind: "schedule", id: step.id, event, ms })
          break
        }
        case "cancel": {
          const id = textOf(step.id, args, params)
          this.#queue?.clear(id)
          effects.push({ kind: "cancel", id })
          break
        }
        case "completed":
          this.#isOwned = false
          this.#raise(doneEvent(step.id, step.output(args, undefined)))
          break
        case "done":
          this.#isOwned = false
          this.output = step.output(args, undefined)
          this.status = "done"
          changes = true
      }
    }
    return changes
  }

  /** A value that leaves the chart: if it is or has the context, the next `assign` copies the context (CSTEP5). */
  #resolved<A>(value: A): A {
    if (this.#isOwned && isOrHas(value, this.#context)) this.#isOwned = false
    return value
  }

  #event(step: { readonly event: Resolve }, args: Args, params: unknown): EventObject {
    return this.#resolved(step.event(args, params)) as EventObject
  }

  #raise(event: EventObject): void {
    this.#raised ??= []
    this.#raised.push(event)
  }

  #assign(update: Context): void {
    if (this.#isOwned && !isOrHas(update, this.#context)) {
      Object.assign(this.#context, update)
      return
    }
    this.#context = { ...this.#context, ...update }
    this.#args = { context: this.#context, event: this.#args.event }
    this.#isOwned = !this.table.strict
  }

  #stopChildren(effects: Array<ChartEffect>): void {
    for (const child of this.children) effects.push({ kind: "stop", child })
    this.#children = undefined
  }
}

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

/** None, one, or a map of several by their ids: an empty map would use more memory than the rest of a chart. */
type ChartChildren = ChildStart | Map<string, ChildStart> | undefined

/** The children, in the order of their start. */
const childrenOf = (children: ChartChildren): Iterable<ChildStart> => {
  if (children instanceof Map) return children.values()
  return children === undefined ? [] : [children]
}

/** The child with an id. */
const childIn = (children: ChartChildren, id: string | undefined): ChildStart | undefined => {
  if (id === undefined) return undefined
  if (children instanceof Map) return children.get(id)
  return children?.id === id ? children : undefined
}

/** The children with one more, which takes the place of one with its id. */
const withChild = (children: ChartChildren, child: ChildStart): ChartChildren => {
  if (children instanceof Map) return children.set(child.id, child)
  if (children === undefined || children.id === child.id) return child
  return new Map([
    [children.id, children],
    [child.id, child]
  ])
}

/** The children without one. */
const withoutChild = (children: ChartChildren, id: string): ChartChildren => {
  if (!(children instanceof Map)) return children?.id === id ? undefined : children
  children.delete(id)
  return children.size === 0 ? undefined : children
}
