/**
 * XState's built-in actions, for charts that a process hosts.
 *
 * XState does not publish what a built-in action does. Each action made here is XState's own, and its arguments are also
 * registered, so that the host performs it without an XState actor. Under `createActor` there is no difference.
 */
import * as xstate from "xstate"

/** A registered built-in action: what it changes, sends or starts. */
export type BuiltIn =
  | { readonly kind: "assign"; readonly assignment: unknown }
  | { readonly kind: "raise"; readonly event: unknown; readonly id: string | undefined; readonly delay: unknown }
  | { readonly kind: "cancel"; readonly id: unknown }
  | { readonly kind: "send"; readonly to: unknown; readonly event: unknown }
  | { readonly kind: "sendParent"; readonly event: unknown }
  | { readonly kind: "spawn"; readonly src: string; readonly id: unknown; readonly input: unknown }
  | { readonly kind: "stop"; readonly id: unknown }
  | { readonly kind: "postpone" }
  | { readonly kind: "insert"; readonly event: unknown }
  | { readonly kind: "timeout"; readonly id: string; readonly event: unknown; readonly delay: unknown }
  | { readonly kind: "reply"; readonly value: unknown; readonly to: unknown }

const builtIns = new WeakMap<object, BuiltIn>()

/** The registered arguments of an action; `undefined` for any other action. */
export const builtInOf = (action: object): BuiltIn | undefined => builtIns.get(action)

/** Registers what an action does. */
export const register = <A extends object>(action: A, builtIn: BuiltIn): A => {
  builtIns.set(action, builtIn)
  return action
}

type Make = (...args: Array<never>) => object

/** The same function, whose results are registered. `describe` returns nothing for what only XState performs. */
const registering = <M extends Make>(
  make: M,
  describe: (...args: ReadonlyArray<unknown>) => BuiltIn | undefined
): M => {
  const makeAndRegister = (...args: ReadonlyArray<unknown>): object => {
    const action = (make as unknown as (...args: ReadonlyArray<unknown>) => object)(...args)
    const builtIn = describe(...args)
    if (builtIn !== undefined) builtIns.set(action, builtIn)
    return action
  }
  return makeAndRegister as unknown as M
}

/** The options of the actions that are registered. XState checks their types. */
interface ActionOptions {
  /** The id of a delayed event or of a spawned actor. */
  readonly id?: unknown
  /** The milliseconds until the event is raised, a delay's name, or a function. */
  readonly delay?: unknown
  /** The input of a spawned actor. */
  readonly input?: unknown
  /** Only XState performs a spawn with a `systemId`. */
  readonly systemId?: unknown
  /** Only XState performs a spawn whose snapshots are events of the parent. */
  readonly syncSnapshot?: unknown
}

const optionsOf = (options: unknown): ActionOptions => options ?? {}

/** XState's `assign`. */
export const assign = registering(xstate.assign, (assignment) => ({ kind: "assign", assignment }))

/** XState's `raise`. A delayed event is cancelled by its `id`. */
export const raise = registering(xstate.raise, (event, options) => {
  const { id, delay } = optionsOf(options)
  return { kind: "raise", event, id: typeof id === "string" ? id : undefined, delay }
})

/** XState's `sendTo`. The host performs it for a child named by its id, without a delay. */
export const sendTo = registering(xstate.sendTo, (to, event, options) =>
  typeof to === "string" && options === undefined ? { kind: "send", to, event } : undefined
)

/** XState's `sendTo` for a child whose id a function returns. The event is not delayed. */
export const sendToChild = registering(xstate.sendTo, (to, event) => ({ kind: "send", to, event }))

/** XState's `sendParent`. The host performs it without a delay. */
export const sendParent = registering(xstate.sendParent, (event, options) =>
  options === undefined ? { kind: "sendParent", event } : undefined
)

/** XState's `spawnChild`. The host performs it for an actor that `setup` names, with an id. */
export const spawnChild = registering(xstate.spawnChild, (src, options) => {
  const { id, input, systemId, syncSnapshot } = optionsOf(options)
  const isPlain = systemId === undefined && syncSnapshot !== true && id !== undefined
  return isPlain && typeof src === "string" ? { kind: "spawn", src, id, input } : undefined
})

/** XState's `stopChild`. The host performs it for a child named by its id. */
export const stopChild = registering(xstate.stopChild, (id) =>
  typeof id === "string" || typeof id === "function" ? { kind: "stop", id } : undefined
)
