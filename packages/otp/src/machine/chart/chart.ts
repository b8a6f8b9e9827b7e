/**
 * One running chart: its active state, its context, its children and its delayed events.
 *
 * Owns only data. A transition changes the data and adds effects to a list; it performs none of them. Time does not enter
 * except as the delays of scheduled events.
 *
 * CHART1. Exits come first, innermost first; then the transition's actions; then entries, outermost first. Each action
 *         reads the context that earlier actions left.
 * CHART2. Eventless transitions come before raised events, and are tried again after each step that changed something.
 * CHART3. A final state of the machine ends it: all exit actions run, then all children are stopped.
 * CHART4. The error of a child that no transition handles ends the chart with that error.
 * CHART5. A context that was handed out never changes: the next `assign` copies it.
 */
import type { EventObject } from "xstate"
import type { ActionFunction, Args, Candidate, ChartTable, Context, EffectFunction, Leaf, Step } from "./chartTable.ts"

/** An effect of a transition, in order. `effect` and `act` are named actions. */
export type ChartEffect =
  | { readonly kind: "start"; readonly id: string; readonly src: string; readonly input: unknown }
  | { readonly kind: "stop"; readonly id: string }
  | { readonly kind: "send"; readonly to: string; readonly event: EventObject }
  | { readonly kind: "sendParent"; readonly event: EventObject }
  | { readonly kind: "schedule"; readonly id: string; readonly event: EventObject; readonly ms: number }
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

const initEvent = "xstate.init"

export class Chart {
  readonly table: ChartTable
  status: ChartStatus = "active"
  output: unknown = undefined
  error: unknown = undefined
  /** The names of the actors of the children, by id, in the order they were started. A child stays until it is stopped. */
  readonly children = new Map<string, string>()
  #leaf: Leaf
  #context: Context
  /** Whether no other code holds the context object (CHART5). */
  #isOwned = false
  #event: EventObject
  #changed = false
  readonly #raised: Array<EventObject> = []

  private constructor(table: ChartTable, leaf: Leaf, context: Context, event: EventObject) {
    this.table = table
    this.#leaf = leaf
    this.#context = context
    this.#event = event
  }

  /** Starts a chart. Throws what its context, guards or actions throw. */
  static start(table: ChartTable, input: unknown, effects: Array<ChartEffect>): Chart {
    const event = { type: initEvent, input }
    const { initial } = table
    const chart = new Chart(table, initial.leaf, table.context(input), event)
    chart.#take(initial, effects)
    chart.#settle(effects)
    return chart
  }

  /** A chart with this state, whose children are not started. */
  static restore(table: ChartTable, { status, value, context, output, error }: ChartData): Chart {
    const chart = new Chart(table, table.leafOf(value), context, { type: initEvent })
    chart.status = status
    chart.output = output
    chart.error = error
    return chart
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

  /** Handles an event; returns whether the chart changed. Throws what guards and actions throw. */
  send(event: EventObject, effects: Array<ChartEffect>): boolean {
    if (this.status !== "active") return false
    this.#event = event
    this.#changed = false
    const selected = this.#select(this.#candidates(event.type))
    if (selected !== undefined) this.#take(selected, effects)
    else if (event.type.startsWith("xstate.error.actor.")) {
      this.#end("error", effects)
      this.error = (event as { readonly error?: unknown }).error
      return true
    }
    const changed = this.#changed
    this.#settle(effects)
    return changed || this.#changed
  }

  /** Replaces the state and the context. */
  replace(value: unknown, context: Context): void {
    this.#leaf = this.table.leafOf(value)
    this.#context = context
    this.#isOwned = false
  }

  /** Ends the chart from outside. */
  stop(effects: Array<ChartEffect>): void {
    if (this.status === "active") this.#end("stopped", effects)
  }

  #candidates(type: string): ReadonlyArray<Candidate> | undefined {
    const { on, prefixes } = this.#leaf
    return on.get(type) ?? prefixes.find(({ prefix }) => type.startsWith(prefix))?.candidates
  }

  #select(candidates: ReadonlyArray<Candidate> | undefined): Candidate | undefined {
    if (candidates === undefined) return undefined
    const args = { context: this.#context, event: this.#event }
    for (const candidate of candidates) if (candidate.holds === undefined || candidate.holds(args)) return candidate
    return undefined
  }

  /** Takes eventless transitions and raised events, until there are none (CHART2). */
  #settle(effects: Array<ChartEffect>): void {
    let askEventless = true
    while (this.status === "active") {
      const eventless: Candidate | undefined =
        askEventless && this.#leaf.always.length > 0 ? this.#select(this.#leaf.always) : undefined
      let selected = eventless
      if (selected === undefined) {
        const raised = this.#raised.shift()
        if (raised === undefined) return
        this.#event = raised
        selected = this.#select(this.#candidates(raised.type))
      }
      const before = this.#changed
      this.#changed = false
      if (selected !== undefined) this.#take(selected, effects)
      askEventless = eventless === undefined || this.#changed
      this.#changed ||= before
    }
    this.#stopChildren(effects)
  }

  #take({ steps, leaf, moves }: Omit<Candidate, "holds">, effects: Array<ChartEffect>): void {
    if (moves) this.#changed = true
    this.#leaf = leaf
    this.#perform(steps, effects)
    if (this.status === "done") this.#perform(leaf.leave, effects)
  }

  #perform(steps: ReadonlyArray<Step>, effects: Array<ChartEffect>): void {
    for (const step of steps) this.#step(step, { context: this.#context, event: this.#event }, effects)
  }

  #step(step: Step, args: Args, effects: Array<ChartEffect>): void {
    switch (step.kind) {
      case "assign":
        return this.#assign(step.update(args, step.params(args, undefined)))
      case "raise":
        this.#raised.push(step.event(args, step.params(args, undefined)) as EventObject)
        return
      case "act": {
        this.#isOwned = false
        effects.push({ kind: "act", name: step.name, run: step.run, params: step.params(args, undefined), args })
        return
      }
      case "effect":
        effects.push({ kind: "effect", name: step.name, run: step.run, params: step.params(args, undefined) })
        return
      case "start": {
        const id = step.id(args, undefined) as string
        this.children.set(id, step.src)
        this.#changed = true
        effects.push({ kind: "start", id, src: step.src, input: step.input(args, undefined) })
        return
      }
      case "stop":
        return this.#stop(step.id(args, step.params(args, undefined)) as string, effects)
      case "send": {
        const params = step.params(args, undefined)
        const to = step.to(args, params) as string
        if (!this.children.has(to)) throw new Error(`There is no child ${to} to send an event to`)
        effects.push({ kind: "send", to, event: step.event(args, params) as EventObject })
        return
      }
      case "sendParent":
        effects.push({ kind: "sendParent", event: step.event(args, step.params(args, undefined)) as EventObject })
        return
      case "schedule": {
        const params = step.params(args, undefined)
        const event = step.event(args, params) as EventObject
        effects.push({ kind: "schedule", id: step.id, event, ms: step.delay(args, params) as number })
        return
      }
      case "cancel":
        effects.push({ kind: "cancel", id: step.id(args, step.params(args, undefined)) as string })
        return
      case "completed":
        this.#raised.push(
          Object.assign({ type: `xstate.done.state.${step.id}` }, { output: step.output(args, undefined) })
        )
        return
      case "done":
        this.output = step.output(args, undefined)
        this.status = "done"
        this.#changed = true
    }
  }

  #assign(update: Context): void {
    this.#changed = true
    if (this.#isOwned) Object.assign(this.#context, update)
    else {
      this.#context = { ...this.#context, ...update }
      this.#isOwned = true
    }
  }

  #stop(id: string, effects: Array<ChartEffect>): void {
    if (!this.children.delete(id)) return
    this.#changed = true
    effects.push({ kind: "stop", id })
  }

  #stopChildren(effects: Array<ChartEffect>): void {
    for (const id of [...this.children.keys()]) this.#stop(id, effects)
  }

  #end(status: ChartStatus, effects: Array<ChartEffect>): void {
    this.#stopChildren(effects)
    this.status = status
    this.#changed = true
  }
}
