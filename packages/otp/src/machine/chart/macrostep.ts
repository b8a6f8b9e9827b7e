/**
 * One event through a plain machine, until it is stable.
 *
 * Owns the snapshot in progress: one mutable object. It becomes an XState snapshot when the step is over, or when an XState
 * action needs one. That makes it cheaper than XState, which makes a snapshot for each action.
 *
 * MACRO1. Exits come first, innermost first; then the transition's actions; then entries, outermost first. Each action
 *        sees the context that earlier actions left.
 * MACRO2. Eventless transitions come before raised events, and are tried again after each step that changed something.
 * MACRO3. A final state of the machine ends it: all exit actions run and all children are stopped.
 * MACRO4. An event without effect returns the same snapshot object.
 * MACRO5. A child is made with the class of its parent.
 */
import { spawnChild, stopChild } from "xstate"
import type { Actor, ActorOptions, AnyActorLogic, AnyActorRef, EventObject } from "xstate"
import type { ActionFunction, Args, ChartSnapshot, Context, Invoke, Node, Scope, Transition } from "./xstateMachine.ts"
import type { ChartPlan, Entry, Exit, Path, PlannedAction } from "./chartPlan.ts"

interface SpawnOptions {
  readonly id?: string | undefined
  readonly systemId?: string | undefined
  readonly input?: unknown
  readonly syncSnapshot?: boolean | undefined
}

type Spawn = (src: string | AnyActorLogic, options?: SpawnOptions) => AnyActorRef

/** XState's own actions, which start and stop a child whose reference exists. */
const starting = spawnChild("") as unknown as ActionFunction
const stopping = stopChild("") as unknown as ActionFunction

export class Macrostep {
  readonly #plan: ChartPlan
  readonly #scope: Scope
  readonly #wrap: (logic: AnyActorLogic) => AnyActorLogic
  readonly #queue: Array<EventObject> = []
  #leaf: Node
  #context: Context
  #children: Readonly<Record<string, AnyActorRef>>
  /** The same children while no snapshot contains them: then they can be changed in place. */
  #own: Record<string, AnyActorRef> | undefined
  #status: ChartSnapshot["status"] = "active"
  #output: unknown
  #error: unknown
  #event: EventObject
  #changed = false
  #made: ChartSnapshot | undefined
  #spawner: Spawn | undefined = undefined

  constructor(
    plan: ChartPlan,
    scope: Scope,
    wrap: (logic: AnyActorLogic) => AnyActorLogic,
    before: ChartSnapshot | undefined,
    event: EventObject
  ) {
    this.#plan = plan
    this.#scope = scope
    this.#wrap = wrap
    this.#made = before
    this.#leaf = before === undefined ? plan.machine.root : plan.leaf(before)
    this.#context = before?.context ?? {}
    this.#children = before?.children ?? {}
    this.#event = event
  }

  /** Computes the first stable snapshot; an error on the way becomes the snapshot's error. */
  begin(input: unknown): ChartSnapshot {
    try {
      const { context = {} } = this.#plan.machine.config
      this.#context = initialContext(context, { spawn: this.#spawn, input, self: this.#scope.self })
      this.#take(this.#plan.initial)
      this.#settle()
      return this.#snapshot()
    } catch (error) {
      this.#status = "error"
      this.#error = error
      this.#made = undefined
      return this.#snapshot()
    }
  }

  /** Returns the snapshot after the event. */
  run(): ChartSnapshot {
    const { type } = this.#event
    if (type === "xstate.stop") {
      this.#stopChildren()
      this.#end("stopped")
      return this.#snapshot()
    }
    const selected = this.#select()
    if (selected === undefined && type.startsWith("xstate.error.actor")) {
      this.#stopChildren()
      this.#error = (this.#event as EventObject & { readonly error: unknown }).error
      this.#end("error")
      return this.#snapshot()
    }
    if (selected !== undefined) this.#take(this.#plan.path(this.#leaf, selected))
    this.#settle()
    return this.#snapshot()
  }

  #select(): Transition | undefined {
    return this.#plan.machine.getTransitionData(this.#snapshot(), this.#event)[0]
  }

  /** Takes eventless transitions and raised events, until there are none (MACRO2). */
  #settle(): void {
    let askEventless = true
    while (this.#status === "active") {
      const eventless: Transition | undefined = askEventless ? this.#eventless() : undefined
      let selected: Transition | undefined = eventless
      if (selected === undefined) {
        const raised = this.#queue.shift()
        if (raised === undefined) break
        this.#event = raised
        selected = this.#select()
      }
      this.#changed = false
      if (selected !== undefined) this.#take(this.#plan.path(this.#leaf, selected))
      askEventless = eventless === undefined || this.#changed
    }
    if (this.#status !== "active") this.#stopChildren()
  }

  #eventless(): Transition | undefined {
    const always = this.#plan.always(this.#leaf)
    if (always.length === 0) return undefined
    const args = { context: this.#context, event: this.#event }
    return always.find(({ holds }) => holds(args))?.transition
  }

  #take({ exits, actions, entries, leaf }: Path): void {
    for (const exit of exits) this.#exit(exit)
    this.#perform(actions, undefined)
    for (const entry of entries) this.#enter(entry)
    if (leaf !== this.#leaf) this.#touch()
    this.#leaf = leaf
    if (this.#status === "done")
      for (const node of lineage(this.#leaf)) this.#perform(this.#plan.exit(node).actions, undefined)
  }

  #exit({ actions, invoked }: Exit): void {
    this.#perform(actions, undefined)
    for (const id of invoked) this.#stop(id)
  }

  #enter({ node, actions, invokes, deferred, initialActions }: Entry): void {
    const retries = this.#perform(actions, deferred)
    for (const { invoke, inline } of invokes) this.#invoke(invoke, inline)
    this.#perform(initialActions, undefined)
    for (const retry of retries) retry(this.#snapshot())
    if (node.type === "final") this.#complete(node)
  }

  /** Handles a final state: it completes its parent state or the machine. */
  #complete(node: Node): void {
    const { root } = this.#plan.machine
    const { parent } = node
    const output = (of: Node, event: EventObject): unknown =>
      outputOf(of, { context: this.#context, event, self: this.#scope.self })
    if (parent !== undefined) {
      this.#queue.push({ type: `xstate.done.state.${parent.id}`, output: output(node, this.#event) } as EventObject)
    }
    if (parent?.parent !== undefined) return
    const done = {
      type: `xstate.done.state.${node.id}`,
      output: parent === undefined ? undefined : output(node, this.#event)
    }
    if (root.output !== undefined) this.#output = output(root, done)
    this.#end("done")
  }

  /** Performs actions in order; returns the retries that XState requires after the children exist. */
  #perform(
    actions: ReadonlyArray<PlannedAction>,
    deferredActorIds: ReadonlyArray<string> | undefined
  ): ReadonlyArray<(snapshot: ChartSnapshot) => void> {
    if (actions.length === 0) return nothing
    const retries: Array<(snapshot: ChartSnapshot) => void> = []
    for (const { type, run, params: paramsOf } of actions) {
      const args = this.#args()
      const params = paramsOf(args)
      if (run?.resolve === undefined) {
        this.#execute(type, args, params, run)
      } else if (run.type === "xstate.assign") {
        this.#assign(run.assignment, args, params)
      } else if (run.type === "xstate.spawnChild" && run.src !== undefined) {
        const { id, systemId, src, input, syncSnapshot } = run
        const name = typeof id === "function" ? id(args) : id
        this.#start(src, undefined, { id: name, systemId, input: this.#given(input), syncSnapshot })
      } else {
        const extra = { internalQueue: this.#queue, deferredActorIds }
        const [after, resolved, more] = run.resolve(this.#scope, this.#snapshot(), args, params, run, extra)
        this.#adopt(after)
        const { execute, retryResolve } = run
        if (retryResolve !== undefined) retries.push((snapshot) => retryResolve(this.#scope, snapshot, resolved))
        if (execute !== undefined) this.#execute(run.type ?? type, args, resolved, () => execute(this.#scope, resolved))
        if (more !== undefined) {
          retries.push(
            ...this.#perform(
              more.map((item) => this.#plan.action(item)),
              deferredActorIds
            )
          )
        }
      }
    }
    return retries
  }

  #args(): Args {
    return { context: this.#context, event: this.#event, self: this.#scope.self, system: this.#scope.system }
  }

  #execute(type: string, info: Args, params: unknown, exec: ActionFunction | (() => void) | undefined): void {
    this.#scope.actionExecutor({ type, info, params, exec })
  }

  #assign(assignment: unknown, { context, event, self, system }: Args, params: unknown): void {
    const update = updateOf(assignment, { context, event, spawn: this.#spawn, self, system }, params)
    // Spreading stays fast for contexts of many fields, where `Object.assign` into an empty object does not.
    if (!isEmpty(update)) this.#context = { ...this.#context, ...update }
    this.#touch()
  }

  #invoke({ id, src, input, systemId, onSnapshot }: Invoke, inline: AnyActorLogic | undefined): void {
    this.#start(src, inline, { id, systemId, input: this.#given(input), syncSnapshot: onSnapshot !== undefined })
  }

  #given(input: unknown): unknown {
    return typeof input === "function" ? (input as (args: Args) => unknown)(this.#args()) : input
  }

  /** The `spawn` function of `assign` and `context`. */
  get #spawn(): Spawn {
    this.#spawner ??= (src, options = {}) =>
      this.#start(src, undefined, {
        ...options,
        input: typeof src === "string" ? this.#given(options.input) : options.input
      })
    return this.#spawner
  }

  #start(src: string | AnyActorLogic, inline: AnyActorLogic | undefined, options: SpawnOptions): AnyActorRef {
    const logic = inline ?? (typeof src === "string" ? namedLogic(this.#plan.machine, src) : src)
    const { id, systemId, input, syncSnapshot } = options
    const { self } = this.#scope
    // MACRO5
    const Class = self.constructor as typeof Actor
    const actorRef: AnyActorRef = new Class(this.#wrap(logic), {
      src,
      input,
      id,
      systemId,
      syncSnapshot,
      parent: self
    } as ActorOptions<AnyActorLogic>)
    this.#mine()[actorRef.id] = actorRef
    this.#touch()
    this.#execute("xstate.spawnChild", this.#args(), options, () => starting.execute?.(this.#scope, { actorRef }))
    return actorRef
  }

  #stop(id: string): void {
    const child = this.#children[id]
    if (child === undefined) return
    delete this.#mine()[id]
    this.#touch()
    this.#execute("xstate.stopChild", this.#args(), child, () => stopping.execute?.(this.#scope, child))
  }

  #stopChildren(): void {
    for (const id of Object.keys(this.#children)) this.#stop(id)
  }

  #end(status: ChartSnapshot["status"]): void {
    this.#status = status
    this.#touch()
  }

  #touch(): void {
    this.#made = undefined
    this.#changed = true
  }

  /** Takes over the snapshot that an XState action made. */
  #adopt(after: ChartSnapshot): void {
    if (after === this.#made) return
    this.#context = after.context
    this.#children = after.children
    this.#own = undefined
    this.#touch()
  }

  #mine(): Record<string, AnyActorRef> {
    this.#own ??= { ...this.#children }
    this.#children = this.#own
    return this.#own
  }

  #snapshot(): ChartSnapshot {
    if (this.#made === undefined) this.#own = undefined
    this.#made ??= {
      ...this.#plan.template(this.#leaf),
      status: this.#status,
      output: this.#output,
      error: this.#error,
      context: this.#context,
      children: this.#children
    }
    return this.#made
  }
}

const nothing: ReadonlyArray<never> = []

const initialContext = (context: unknown, args: object): Context =>
  typeof context === "function" ? { ...(context as (args: object) => Context)(args) } : (context as Context)

/** The node and its ancestors, innermost first. */
const lineage = (leaf: Node): ReadonlyArray<Node> => {
  const nodes: Array<Node> = []
  for (let node: Node | undefined = leaf; node !== undefined; node = node.parent) nodes.push(node)
  return nodes
}

const outputOf = ({ output }: Node, args: object): unknown =>
  typeof output === "function" ? (output as (args: object) => unknown)(args) : output

const namedLogic = ({ id, implementations }: ChartPlan["machine"], src: string): AnyActorLogic => {
  const logic = implementations.actors[src]
  if (logic === undefined) throw new Error(`Actor logic '${src}' not implemented in machine '${id}'`)
  return logic
}

/** What an assignment, a function or an object of values and functions, changes. */
const updateOf = (assignment: unknown, args: object, params: unknown): object => {
  const evaluate = (value: unknown): unknown =>
    typeof value === "function" ? (value as (args: unknown, params: unknown) => unknown)(args, params) : value
  if (typeof assignment === "function") return evaluate(assignment) as object
  return Object.fromEntries(Object.entries(assignment as object).map(([key, value]) => [key, evaluate(value)]))
}

/** Whether an assignment is empty: then the context stays the same object. */
const isEmpty = (update: object): boolean => {
  for (const _ in update) return false
  return true
}
