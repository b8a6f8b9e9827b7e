/** The guards, actions, delays and actors that a machine's `setup` names. */
import type { AnyActorLogic, AnyStateMachine } from "xstate"
import { type BuiltIn, builtInOf } from "./chartActions.ts"

type Named = Readonly<Record<string, unknown>>

/** A guard's function, or what the machine has in its place. */
export const guardNamed = ({ implementations }: AnyStateMachine, item: unknown): unknown => {
  if (typeof item === "function") return item
  const name = typeof item === "string" ? item : (item as { readonly type: string }).type
  return (implementations.guards as Named)[name]
}

/** An action of a state or a transition: its name, its function, and its parameters as they are configured. */
interface NamedAction {
  readonly name: string
  readonly run: unknown
  readonly params: unknown
  readonly builtIn: BuiltIn | undefined
}

export const actionNamed = (machine: AnyStateMachine, item: unknown): NamedAction => {
  const object = item as { readonly type: string; readonly params?: unknown }
  const isInline = typeof item === "function"
  const name = isInline ? item.name : typeof item === "string" ? item : object.type
  const run: unknown = isInline ? item : (machine.implementations.actions as Named)[name]
  const params = isInline || typeof item === "string" ? undefined : object.params
  return { name, run, params, builtIn: typeof run === "function" ? builtInOf(run) : undefined }
}

/** A delay: a number, or a value or function that `setup` names. */
export const delayNamed = ({ implementations }: AnyStateMachine, delay: string | number): unknown =>
  typeof delay === "number" ? delay : (implementations.delays as Named)[delay]

/** The logic of a named actor. */
export const actorNamed = ({ implementations }: AnyStateMachine, src: string): AnyActorLogic | undefined =>
  (implementations.actors as Readonly<Record<string, AnyActorLogic>>)[src]
