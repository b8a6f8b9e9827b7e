/**
 * The members of an XState machine that this package reads.
 *
 * XState types some of these members for internal use only. They are all listed here, to be checked against each new
 * version.
 */
import type { ActorScope, AnyActorLogic, AnyActorRef, AnyStateMachine, EventObject, Snapshot } from "xstate"

export type Context = Record<string, unknown>

/** The arguments of guards, actions and the like. */
export interface Args {
  readonly context: Context
  readonly event: EventObject
  readonly self: AnyActorRef
  readonly system: AnyActorRef["system"]
}

/** An action as a state or a transition names it. */
export type ActionItem = string | ActionFunction | { readonly type: string; readonly params?: unknown }

/** An action's function. Built-in actions (`assign`, `sendTo`, …) carry their implementation. */
export interface ActionFunction {
  (args: Args, params: unknown): void
  readonly type?: string
  /** Of `assign`. */
  readonly assignment?: unknown
  /** Of `spawnChild`. */
  readonly src?: string | AnyActorLogic
  readonly id?: string | ((args: Args) => string)
  readonly systemId?: string
  readonly input?: unknown
  readonly syncSnapshot?: boolean
  readonly resolve?: (
    scope: Scope,
    snapshot: ChartSnapshot,
    args: Args,
    params: unknown,
    action: unknown,
    extra: { readonly internalQueue: Array<EventObject>; readonly deferredActorIds: ReadonlyArray<string> | undefined }
  ) => readonly [snapshot: ChartSnapshot, params: unknown, actions: ReadonlyArray<ActionItem> | undefined]
  readonly retryResolve?: (scope: Scope, snapshot: ChartSnapshot, params: unknown) => void
  readonly execute?: (scope: Scope, params: unknown) => void
}

/** A guard as a transition names it. */
export type GuardItem = string | GuardFunction | { readonly type: string; readonly params?: unknown }

/** A guard's function. Built-in guards (`and`, `not`, …) have a `check`. */
interface GuardFunction {
  (args: { readonly context: Context; readonly event: EventObject }, params: unknown): boolean
  readonly check?: unknown
}

export interface Invoke {
  readonly id: string
  readonly src: string | AnyActorLogic
  /** A value, or a function of the arguments. */
  readonly input?: unknown
  readonly systemId?: string | undefined
  readonly onSnapshot?: unknown
}

export interface Transition {
  readonly source: Node
  readonly target?: ReadonlyArray<Node>
  readonly reenter: boolean
  readonly actions: ReadonlyArray<ActionItem>
  readonly guard?: GuardItem
}

export interface Node {
  readonly id: string
  readonly key: string
  readonly type: "atomic" | "compound" | "parallel" | "final" | "history"
  readonly parent?: Node
  readonly config: { readonly invoke?: unknown }
  readonly states: Readonly<Record<string, Node>>
  readonly entry: ReadonlyArray<ActionItem>
  readonly exit: ReadonlyArray<ActionItem>
  readonly invoke: ReadonlyArray<Invoke>
  readonly initial: { readonly target?: ReadonlyArray<Node>; readonly actions: ReadonlyArray<ActionItem> }
  readonly always?: ReadonlyArray<Transition>
  /** A value, or a function of the arguments. */
  readonly output?: unknown
}

/** A machine's snapshot. */
export interface ChartSnapshot {
  readonly status: "active" | "done" | "error" | "stopped"
  readonly output: unknown
  readonly error: unknown
  readonly machine: Machine
  readonly context: Context
  readonly value: unknown
  readonly _nodes: ReadonlyArray<Node>
  readonly children: Readonly<Record<string, AnyActorRef>>
}

/** An XState machine, with only the members read here. */
export interface Machine {
  readonly id: string
  readonly root: Node
  readonly config: { readonly context?: unknown }
  readonly options?: { readonly maxIterations?: number }
  readonly implementations: {
    readonly actions: Readonly<Record<string, ActionFunction>>
    readonly guards: Readonly<Record<string, GuardFunction>>
    readonly actors: Readonly<Record<string, AnyActorLogic>>
  }
  readonly resolveState: (config: { readonly value: unknown; readonly context: Context }) => ChartSnapshot
  readonly getTransitionData: (snapshot: ChartSnapshot, event: EventObject) => ReadonlyArray<Transition>
  readonly getPersistedSnapshot: (snapshot: ChartSnapshot, options?: unknown) => Snapshot<unknown>
  readonly start: (snapshot: ChartSnapshot) => void
}

/** The scope that an actor passes to its logic. */
export type Scope = ActorScope<Snapshot<unknown>, EventObject>

/** The same machine, with the members above. */
export const readMachine = (machine: AnyStateMachine): Machine => machine as unknown as Machine
