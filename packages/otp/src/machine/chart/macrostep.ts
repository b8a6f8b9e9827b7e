/**
 * One event through a plain machine, until nothing more follows from it.
 *
 * Owns: the snapshot under way. It is one object that changes, and becomes a snapshot of XState's when the step is over, or
 * when an action of XState's own asks for one: that is what makes it cheaper than XState, which makes one for each action.
 *
 * MACRO1. Exits, innermost first, then the transition's actions, then entries, outermost first; each action sees the
 *        context the ones before it left.
 * MACRO2. Eventless transitions come before raised events, and are asked again after each step that changed something.
 * MACRO3. A final state of the machine ends it: all exits are done, all children stopped.
 * MACRO4. An event that does nothing leaves the snapshot as it was, the same object.
 * MACRO5. A child is made of the class of the actor it is a child of.
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

/** How XState starts and stops a child once its ref exists; both are its own actions, asked for what they do. */
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
  /** The same children where no snapshot has them: they can be changed as they are, however many they are. */
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

  /** From nothing to the first stable snapshot; what goes wrong is the snapshot's error. */
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

  /** What comes of the event. */
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

  /** Eventless transitions and raised events, until there are none (MACRO2). */
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

  /** A final state is done: the machine, or the state it lies in. */
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

  /** Performs actions in order; gives back what XState wants tried again once children are there. */
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

  /** What `assign` and `context` spawn with. */
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

  /** Takes over what an action of XState's made of the snapshot. */
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

/** Whether an assignment has nothing to say: then the context stays the object that it was. */
const isEmpty = (update: object): boolean => {
  for (const _ in update) return false
  return true
}
