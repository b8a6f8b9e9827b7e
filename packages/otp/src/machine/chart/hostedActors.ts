/**
 * The actors and actions that a chart's host performs without an XState actor.
 *
 * Owns: for each registered actor logic and action, the function that the host calls instead of XState's.
 */
import * as xstate from "xstate"
import type { AnyActorLogic, AnyActorRef, AnyMachineSnapshot, AnyStateMachine, EventObject } from "xstate"

/** What a running callback actor can reach: its environment, and the chart that started it. */
export interface ActorScope<Env = unknown, Sent extends EventObject = EventObject> {
  /** The `env` of `StateMachine.start` or `StateMachine.bind`. */
  readonly env: Env
  /** Sends an event to the chart. After the actor was stopped, nothing is sent. */
  readonly send: (event: Sent) => void
  /** The process that runs the chart; `undefined` under a bare `createActor`. */
  readonly host: unknown
  /** Runs a function in a turn of that process, unless the actor was stopped; at once under a bare `createActor`. */
  readonly turn: (run: () => void) => void
}

/** A running callback actor. */
export interface RunningCallback<Received extends EventObject = EventObject> {
  /** Called with each event that the chart sends to the actor. */
  readonly receive?: (event: Received) => void
  /** Called once, when the actor is stopped. */
  readonly close?: () => void
}

export type StartCallback = (args: ActorScope & { readonly input: unknown }) => RunningCallback | undefined | void

/** How a child machine runs. */
export interface ChildOptions {
  /** Returns the displayed name of a child from its input. */
  readonly label?: (input: never) => string
  /** Whether it runs in the process of its parent. Default: false. */
  readonly inside?: boolean
  /** Why the machine does not continue from a stored snapshot; `undefined` if it does. */
  readonly refuses?: (snapshot: xstate.Snapshot<unknown>) => Error | undefined
  /** Returns what reports show of the machine; its state is `value` and `context`. */
  readonly formatStatus?: (status: never) => ShownStatus
}

/** What reports show of a process; `undefined` if they show all of it. */
type ShownStatus = { readonly state?: unknown; readonly message?: unknown } | undefined

/** An actor as its host runs it. `effect` returns an Effect. */
export type HostedActor =
  | { readonly kind: "callback"; readonly start: StartCallback }
  | { readonly kind: "effect"; readonly make: (args: never) => unknown }
  | { readonly kind: "machine"; readonly machine: AnyStateMachine; readonly options: ChildOptions }

const actors = new WeakMap<object, HostedActor>()
const effects = new WeakMap<object, (params: unknown, scope: ActorScope) => void>()

/** Registers the hosted form of an actor logic. */
export const registerActor = <L extends AnyActorLogic>(logic: L, actor: HostedActor): L => {
  actors.set(logic, actor)
  return logic
}

/** The hosted form of an actor logic; `undefined` for machines that are not registered, and for logic that only XState runs. */
export const hostedActorOf = (logic: AnyActorLogic): HostedActor | undefined => actors.get(logic)

/** Registers a machine to be hosted, and how it runs as a child; the machine itself is unchanged. */
export const registerChild = (machine: AnyStateMachine, options: ChildOptions): void => {
  const actor: HostedActor = { kind: "machine", machine, options }
  actors.set(machine, actor)
  actors.set(machine.config, actor)
}

/** Throws when a machine refuses this stored snapshot (PERSIST4). */
export const checkStored = (machine: AnyActorLogic, stored: object): void => {
  const actor = hostedActorOf(machine)
  const refusal = actor?.kind === "machine" ? actor.options.refuses?.(stored as xstate.Snapshot<unknown>) : undefined
  if (refusal !== undefined) throw refusal
}

/**
 * What reports show of a machine and a message; `undefined` if they show all of it. A machine of `provide` or `bind` shows the same, because it
 * has the same config.
 */
export const shownOfMachine = (
  { config }: { readonly config: object },
  { value, context }: { readonly value?: unknown; readonly context?: unknown },
  message: unknown
): ShownStatus => {
  const actor = actors.get(config)
  if (actor?.kind !== "machine") return undefined
  return actor.options.formatStatus?.({ state: { value, context }, message } as never)
}

/** The effect function of a named action, if it has one. */
export const effectOf = (action: object): ((params: unknown, scope: ActorScope) => void) | undefined =>
  effects.get(action)

const environments = new WeakMap<object, unknown>()

/** Sets the environment of the actors of an XState system. */
export const setEnvironment = (system: AnyActorRef["system"], env: unknown): void => void environments.set(system, env)

/** The process that runs an XState system. */
interface Host {
  readonly pid: unknown
  /** The time on the clock of its system. */
  readonly now: () => number
  readonly turn: (run: () => void) => void
}

const hosts = new WeakMap<object, Host>()

/** Sets the process that runs an XState system. */
export const setHost = (system: AnyActorRef["system"], host: Host): void => void hosts.set(system, host)

const unbound = Symbol("unbound")

/** An environment for each XState system, made when it is first used. */
export class EnvironmentPerSystem {
  readonly #make: () => unknown
  readonly #made = new WeakMap<object, { readonly env: unknown }>()

  constructor(make: () => unknown) {
    this.#make = make
  }

  of(system: object): unknown {
    const actor = this.#made.get(system)
    if (actor !== undefined) return actor.env
    const env = this.#make()
    this.#made.set(system, { env })
    return env
  }
}

const scopeOf = (bound: unknown, system: AnyActorRef["system"], send: (event: EventObject) => void): ActorScope => {
  const host = hosts.get(system)
  const given = bound === unbound ? environments.get(system) : bound
  const env = given instanceof EnvironmentPerSystem ? given.of(system) : given
  return { env, send, host: host?.pid, turn: (run) => (host === undefined ? run() : host.turn(run)) }
}

/** Callback logic for XState: the same function, with the environment of its system or a bound one. */
const callbackLogic = (start: StartCallback, env: unknown): AnyActorLogic =>
  registerActor(
    xstate.fromCallback<EventObject, unknown>(({ input, system, sendBack, receive }) => {
      const running = start({ ...scopeOf(env, system, sendBack), input }) ?? {}
      receive((event) => running.receive?.(event))
      return () => running.close?.()
    }),
    { kind: "callback", start }
  )

interface ActionArgs {
  readonly self: AnyActorRef
  readonly system: AnyActorRef["system"]
}

const effectAction = (run: (params: unknown, scope: ActorScope) => void, env: unknown): object => {
  const action = ({ self, system }: ActionArgs, params: unknown): void =>
    run(
      params,
      scopeOf(env, system, (event) => self.send(event))
    )
  effects.set(action, run)
  return action
}

/** Makes callback logic. */
export const makeCallback = (start: StartCallback): AnyActorLogic => callbackLogic(start, unbound)

/** Makes an action from an effect. */
export const makeEffect = (run: (params: unknown, scope: ActorScope) => void): object => effectAction(run, unbound)

interface XStateScope {
  readonly self: AnyActorRef
  readonly system: AnyActorRef["system"]
}

/** The delayed events of the active states, by event type: each once, with its delay. */
const delayedIn = ({ context, machine, value }: AnyMachineSnapshot): ReadonlyMap<string, number> => {
  const named = machine.implementations.delays as Readonly<Record<string, unknown>>
  const delayed = new Map<string, number>()
  for (const { after } of xstate.getStateNodes(machine.root, value as xstate.StateValue)) {
    for (const { delay, eventType } of after as ReadonlyArray<{
      readonly delay: string | number
      readonly eventType: string
    }>) {
      const found = named[delay] ?? delay
      const ms: unknown = typeof found === "function" ? found({ context, event: { type: eventType } }) : found
      delayed.set(eventType, Number(ms))
    }
  }
  return delayed
}

/** The delayed events of a stored hosted machine, by id, with the times when they are due. */
type StoredTimers = Readonly<Record<string, { readonly event: EventObject; readonly at: number }>>

/** The machine, which schedules its delayed events again when a bare `createActor` restores it. XState leaves them out. `of` is the machine that was bound. */
const scheduling = (machine: AnyStateMachine, of: AnyStateMachine): AnyStateMachine => {
  /** The restored snapshots, with their stored delayed events if they have any. */
  const restored = new WeakMap<object, StoredTimers | undefined>()
  const restore: AnyStateMachine["restoreSnapshot"] = machine.restoreSnapshot.bind(machine)
  const startChildren: AnyStateMachine["start"] = machine.start.bind(machine)
  return Object.assign(machine, {
    restoreSnapshot: (...args: Parameters<typeof restore>): AnyMachineSnapshot => {
      const [stored] = args as readonly unknown[] as readonly [{ readonly timers?: StoredTimers | undefined }]
      checkStored(of, stored)
      const snapshot: AnyMachineSnapshot = restore(...args)
      restored.set(snapshot, stored.timers)
      return snapshot
    },
    start: (snapshot: AnyMachineSnapshot, { self, system }: XStateScope): void => {
      startChildren(snapshot)
      const timers = restored.get(snapshot)
      if (!restored.delete(snapshot)) return
      const { scheduler } = system
      if (timers === undefined) {
        for (const [type, ms] of delayedIn(snapshot)) scheduler.schedule(self, self, { type }, ms, type)
        return
      }
      const now = hosts.get(system)?.now() ?? performance.timeOrigin + performance.now()
      for (const [id, { event, at }] of Object.entries(timers)) {
        scheduler.schedule(self, self, event, Math.max(0, at - now), id)
      }
    }
  })
}

/** The machine with its callback actors, its effects and those of its child machines bound to an environment. */
export const bindMachine = (machine: AnyStateMachine, env: unknown): AnyStateMachine => {
  const implementations = machine.implementations as {
    readonly actors: Readonly<Record<string, AnyActorLogic>>
    readonly actions: Readonly<Record<string, object>>
  }
  const boundActors: Record<string, AnyActorLogic> = {}
  for (const [name, logic] of Object.entries(implementations.actors)) {
    const hosted = hostedActorOf(logic)
    if (hosted?.kind === "callback") boundActors[name] = callbackLogic(hosted.start, env)
    else if (logic instanceof xstate.StateMachine) boundActors[name] = bindMachine(logic, env)
  }
  const boundActions: Record<string, object> = {}
  for (const [name, action] of Object.entries(implementations.actions)) {
    const run = effectOf(action)
    if (run !== undefined) boundActions[name] = effectAction(run, env)
  }
  const provide = machine.provide.bind(machine) as (implementations: object) => AnyStateMachine
  return scheduling(provide({ actors: boundActors, actions: boundActions }), machine)
}
