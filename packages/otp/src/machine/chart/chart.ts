/**
 * One running chart: its active state, its context, and the names of its children.
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
import type { EventObject } from "xstate"
import type { ActionFunction, Args, Candidate, Context, EffectFunction, Leaf, Step } from "./chartStep.ts"
import type { ChartTable } from "./chartTable.ts"
import { allEntries, type Entries, type Entry, entryOf, withEntry, withoutEntry } from "./entries.ts"

/** The start of a child. The chart keeps it until the child is stopped. */
export class ChildStart implements Entry<ChildStart> {
  readonly kind = "start"
  readonly id: string
  readonly src: string
  readonly input: unknown
  next: ChildStart | undefined = undefined

  constructor(id: string, src: string, input: unknown) {
    this.id = id
    this.src = src
    this.input = input
  }
}

/** An effect of a transition, in order. `effect` and `act` are named actions. */
export type ChartEffect =
  | ChildStart
  | { readonly kind: "stop"; readonly id: string }
  | { readonly kind: "send"; readonly to: string; readonly event: EventObject }
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

interface DoneEvent extends EventObject {
  readonly output: unknown
}

const beginning: EventObject = { type: "xstate.init" }

const empty: Context = Object.freeze({})

/** Whether a value is an object, or has it as a property. */
const isOrHas = (value: unknown, object: Context): boolean => {
  if (value === object) return true
  if (typeof value !== "object" || value === null) return false
  for (const key in value) if ((value as Context)[key] === object) return true
  return false
}

export class Chart {
  readonly table: ChartTable
  status: ChartStatus = "active"
  output: unknown = undefined
  error: unknown = undefined
  #children: Entries<ChildStart> = undefined
  #leaf: Leaf
  #context: Context
  /** Whether no other code holds the context object (CSTEP5). */
  #isOwned = false
  #event: EventObject
  #changed = false
  #raised: Array<EventObject> | undefined = undefined

  private constructor(table: ChartTable, leaf: Leaf, context: Context, event: EventObject) {
    this.table = table
    this.#leaf = leaf
    this.#context = context
    this.#event = event
  }

  /** Starts a chart. Throws what its context, guards or actions throw. */
  static start(table: ChartTable, input: unknown, effects: Array<ChartEffect>): Chart {
    const chart = Chart.make(table)
    chart.begin(input, effects)
    return chart
  }

  /** A chart before its first transition. */
  static make(table: ChartTable): Chart {
    return new Chart(table, table.initial.leaf, empty, beginning)
  }

  /** A chart with this state, whose children are not started. */
  static restore(table: ChartTable, { status, value, context, output, error }: ChartData): Chart {
    const chart = new Chart(table, table.leafOf(value), context, beginning)
    chart.status = status
    chart.output = output
    chart.error = error
    return chart
  }

  /** Enters the initial state. */
  begin(input: unknown, effects: Array<ChartEffect>): void {
    const { table } = this
    this.#event = Object.assign({}, beginning, { input })
    this.#context = table.context(input)
    this.#take(table.initial, effects)
    this.#settle(effects)
    this.#event = beginning
  }

  /** The names of the actors of the children, by id, in the order they were started. A child stays until it is stopped. */
  get children(): ReadonlyMap<string, string> {
    return new Map(allEntries(this.#children).map(({ id, src }) => [id, src]))
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
    this.#event = event
    this.#changed = false
    const candidates = this.#candidates(event.type)
    const selected = candidates === undefined ? undefined : this.#select(candidates)
    if (selected !== undefined) this.#take(selected, effects)
    else if (event.type.startsWith("xstate.error.actor.")) {
      this.#stopChildren(effects)
      this.fail((event as { readonly error?: unknown }).error)
      return true
    }
    const changed = this.#changed
    this.#settle(effects)
    // An idle chart keeps no event alive.
    this.#event = beginning
    return changed || this.#changed
  }

  /** Notes a child of a restored chart. */
  adopt(id: string, src: string): void {
    this.#children = withEntry(this.#children, new ChildStart(id, src, undefined))
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
    this.#children = undefined
    this.#raised = undefined
  }

  /** Ends the chart from outside. */
  stop(): void {
    if (this.status !== "active") return
    this.status = "stopped"
    this.#children = undefined
  }

  #candidates(type: string): ReadonlyArray<Candidate> | undefined {
    const { on, prefixes } = this.#leaf
    const exact = on.get(type)
    if (exact !== undefined || prefixes.length === 0) return exact
    return prefixes.find(({ prefix }) => type.startsWith(prefix))?.candidates
  }

  #select(candidates: ReadonlyArray<Candidate>): Candidate | undefined {
    let args: Args | undefined = undefined
    for (let at = 0; at < candidates.length; at++) {
      const candidate = candidates[at] as Candidate
      if (candidate.holds === undefined) return candidate
      args ??= { context: this.#context, event: this.#event }
      if (candidate.holds(args)) return candidate
    }
    return undefined
  }

  /** Takes eventless transitions and raised events, until there are none (CSTEP2). */
  #settle(effects: Array<ChartEffect>): void {
    let askEventless = true
    while (this.status === "active") {
      const { always } = this.#leaf
      const eventless: Candidate | undefined = askEventless && always.length > 0 ? this.#select(always) : undefined
      let selected = eventless
      if (selected === undefined) {
        const raised = this.#raised?.shift()
        if (raised === undefined) return
        this.#event = raised
        selected = this.#select(this.#candidates(raised.type) ?? [])
      }
      const before = this.#changed
      this.#changed = false
      if (selected !== undefined) this.#take(selected, effects)
      askEventless = eventless === undefined || this.#changed
      this.#changed ||= before
    }
    this.#raised = undefined
    this.#stopChildren(effects)
  }

  #take({ steps, leaf, moves }: Omit<Candidate, "holds">, effects: Array<ChartEffect>): void {
    if (moves) this.#changed = true
    this.#leaf = leaf
    if (steps.length > 0) this.#perform(steps, effects)
    if (this.status === "done") this.#perform(leaf.leave, effects)
  }

  #perform(steps: ReadonlyArray<Step>, effects: Array<ChartEffect>): void {
    let args: Args = { context: this.#context, event: this.#event }
    for (let at = 0; at < steps.length; at++) {
      const step = steps[at] as Step
      if (args.context !== this.#context) args = { context: this.#context, event: this.#event }
      this.#step(step, args, effects)
    }
  }

  #step(step: Step, args: Args, effects: Array<ChartEffect>): void {
    const params = step.params === undefined ? undefined : step.params(args, undefined)
    switch (step.kind) {
      case "assign":
        return this.#assign(step.update(args, params))
      case "raise":
        return this.#raise(this.#resolved(step.event(args, params)) as EventObject)
      case "act":
        this.#isOwned = false
        effects.push({ kind: "act", name: step.name, run: step.run, params, args })
        return
      case "effect":
        effects.push({ kind: "effect", name: step.name, run: step.run, params: this.#resolved(params) })
        return
      case "start": {
        const id = step.id(args, params) as string
        this.#changed = true
        const start = new ChildStart(id, step.src, this.#resolved(step.input(args, params)))
        this.#children = withEntry(this.#children, start)
        effects.push(start)
        return
      }
      case "stop":
        return this.#stop(step.id(args, params), effects)
      case "send": {
        const to = step.to(args, params) as string
        if (entryOf(this.#children, to) === undefined) {
          throw new Error(`Unable to send event to actor '${to}' from machine '${this.table.machine.id}'.`)
        }
        effects.push({ kind: "send", to, event: this.#resolved(step.event(args, params)) as EventObject })
        return
      }
      case "sendParent":
        effects.push({ kind: "sendParent", event: this.#resolved(step.event(args, params)) as EventObject })
        return
      case "schedule": {
        const event = this.#resolved(step.event(args, params)) as EventObject
        const ms = step.delay(args, params)
        if (typeof ms === "number") effects.push({ kind: "schedule", id: step.id, event, ms })
        else this.#raise(event)
        return
      }
      case "cancel":
        effects.push({ kind: "cancel", id: step.id(args, params) as string })
        return
      case "completed": {
        this.#isOwned = false
        const output = step.output(args, undefined)
        const event: DoneEvent = { type: `xstate.done.state.${step.id}`, output }
        return this.#raise(event)
      }
      case "done":
        this.#isOwned = false
        this.output = step.output(args, undefined)
        this.status = "done"
        this.#changed = true
    }
  }

  /** A value that leaves the chart: if it is or has the context, the next `assign` copies the context (CSTEP5). */
  #resolved<A>(value: A): A {
    if (this.#isOwned && isOrHas(value, this.#context)) this.#isOwned = false
    return value
  }

  #raise(event: EventObject): void {
    this.#raised ??= []
    this.#raised.push(event)
  }

  #assign(update: Context): void {
    this.#changed = true
    if (this.#isOwned && !isOrHas(update, this.#context)) {
      Object.assign(this.#context, update)
      return
    }
    this.#context = { ...this.#context, ...update }
    this.#isOwned = !this.table.strict
  }

  /** Stops a child, given as its id or as a reference. */
  #stop(child: unknown, effects: Array<ChartEffect>): void {
    const id = typeof child === "string" ? child : (child as { readonly id?: unknown } | undefined)?.id
    if (typeof id !== "string" || entryOf(this.#children, id) === undefined) return
    this.#children = withoutEntry(this.#children, id)
    this.#changed = true
    effects.push({ kind: "stop", id })
  }

  #stopChildren(effects: Array<ChartEffect>): void {
    for (const { id } of allEntries(this.#children)) this.#stop(id, effects)
  }
}
