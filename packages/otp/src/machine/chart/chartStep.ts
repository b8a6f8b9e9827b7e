/**
 * The rows of a chart's table: transitions, and the steps that they take.
 */
import type { EventObject, StateNode } from "xstate"
import type { ActorScope, HostedActor } from "./hostedActors.ts"

/** The context of a chart. */
export type Context = Readonly<Record<string, unknown>>

/** The arguments of guards, parameters, inputs and outputs. */
export interface Args {
  readonly context: Context
  readonly event: EventObject
}

/** A function of the arguments, from a value or a function in a machine's configuration. */
export type Resolve = (args: Args, params: unknown) => unknown

/** An implementation of a named action that is no built-in action. */
export type ActionFunction = (args: object, params: unknown) => void

/** An implementation of a named action that was made with `StateMachine.effect`. */
export type EffectFunction = (params: unknown, scope: ActorScope) => void

/** One step of a transition. */
export type Step =
  | {
      readonly kind: "assign"
      readonly update: (args: Args, params: unknown) => Context
      readonly params: Resolve | undefined
    }
  | { readonly kind: "raise"; readonly event: Resolve; readonly params: Resolve | undefined }
  | {
      readonly kind: "schedule"
      readonly id: string | undefined
      readonly event: Resolve
      readonly delay: Resolve
      readonly params: Resolve | undefined
    }
  | { readonly kind: "insert"; readonly event: Resolve; readonly params: Resolve | undefined }
  | {
      readonly kind: "timeout"
      readonly id: string
      readonly event: Resolve
      readonly delay: Resolve
      readonly params: Resolve | undefined
    }
  | { readonly kind: "cancel"; readonly id: string | Resolve; readonly params: Resolve | undefined }
  | { readonly kind: "send"; readonly to: Resolve; readonly event: Resolve; readonly params: Resolve | undefined }
  | { readonly kind: "sendParent"; readonly event: Resolve; readonly params: Resolve | undefined }
  | {
      readonly kind: "start"
      readonly id: string | Resolve
      readonly src: string
      readonly actor: HostedActor
      readonly input: Resolve | undefined
      readonly params: Resolve | undefined
    }
  | { readonly kind: "stop"; readonly id: string | Resolve; readonly params: Resolve | undefined }
  | { readonly kind: "act"; readonly name: string; readonly run: ActionFunction; readonly params: Resolve | undefined }
  | {
      readonly kind: "effect"
      readonly name: string
      readonly run: EffectFunction
      readonly params: Resolve | undefined
    }
  | { readonly kind: "completed"; readonly id: string; readonly output: Resolve; readonly params: undefined }
  | { readonly kind: "done"; readonly output: Resolve; readonly params: undefined }

/** The steps of a transition, and the state after it. */
export interface Transition {
  readonly steps: ReadonlyArray<Step>
  readonly leaf: Leaf
  /** Whether the transition changes the snapshot in any way but through a step. */
  readonly moves: boolean
}

/** A transition from one state, with its condition. */
export interface Candidate extends Transition {
  readonly guard: ((args: Args, params: unknown) => boolean) | undefined
  /** The parameters of the guard. */
  readonly params: Resolve | undefined
  /** The error for one that the guard throws; without it, the same error. */
  readonly guardError: ((cause: unknown) => Error) | undefined
}

/** A state without inner states. */
export interface Leaf {
  readonly node: StateNode
  readonly value: unknown
  /** The transitions of the types of events that came so far, also of all with a prefix (`xstate.done.actor.*`). */
  readonly on: Map<string, ReadonlyArray<Candidate>>
  /** The types of all events that have a transition here; `undefined` before the first event. */
  types: ReadonlySet<string> | undefined
  /** The eventless transitions; `undefined` before they are first asked for. */
  always: ReadonlyArray<Candidate> | undefined
  /** The exit steps of the machine, performed after it is done here; `undefined` before the first end here. */
  leave: ReadonlyArray<Step> | undefined
}

/** A delayed event that a state schedules when it is entered. */
export interface StateTimer {
  readonly id: string
  readonly delay: Resolve
}
