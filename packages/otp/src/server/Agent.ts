/**
 * Agents: processes that hold one value.
 *
 * An agent is a server whose messages are functions. They run in the agent, one at a time, on its current value. Like a
 * server callback, a function may return a promise or an effect; the agent's other messages wait.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Agent, System } from "@troupe/otp"
 *
 * const system = System.make()
 * const counter = await Agent.start(system, () => 41)
 * await Agent.update(counter, (n) => n + 1)
 * await Agent.get(counter, (n) => n) // => 42
 * await System.stop(system)
 * ```
 *
 * **Source**
 *
 * Elixir's `Agent`.
 */
import {
  BadReturnValue,
  type ChildSpec,
  type ExitReason,
  type Name,
  type OfKind,
  type Pid,
  type Rules,
  type System,
  type Timeout
} from "../core/index.ts"
import * as GenServer from "./GenServer.ts"
import type { Answer, CallOptions, StartOptions } from "./GenServer.ts"
import { mapAnswer } from "../process/index.ts"

declare const state_: unique symbol

/** An agent that holds a value of type `S`. */
export interface Agent<in out S> extends Pid, OfKind<"agent"> {
  readonly [state_]?: (state: S) => S
}

/** An agent or the address of one. */
export type AgentTarget<S> = Agent<S> | Name<never, Agent<S>>

/** A function run in the agent: it returns the reply and the new value. */
type Step = (state: unknown) => Answer<readonly [answer: unknown, state: unknown]>
type Holder = GenServer.Server<Step, unknown, Step>

const definition = GenServer.make<() => Answer<unknown>, unknown, Step, unknown, Step>({
  label: "Agent",
  init: (initial) => mapAnswer(initial(), (state) => GenServer.ok(state)),
  handleCall: (step, _from, state) => mapAnswer(step(state), ([answer, next]) => GenServer.replying(answer, next)),
  handleCast: (step, state) => mapAnswer(step(state), ([, next]) => GenServer.noreply(next))
})

/** Only this file uses an agent as a server. */
const agentOf = <S>(server: Pid): Agent<S> => server
const holderOf = <S>(agent: AgentTarget<S>): Holder | Name => agent as Pid | Name

/** Starts an agent without a link, with the result of `initial` as its value. Rejects like `GenServer.start`. */
export const start = async <S>(system: System, initial: () => Answer<S>, options?: StartOptions): Promise<Agent<S>> =>
  agentOf(await GenServer.start(system, definition, initial, options))

/** Starts an agent linked to its parent, with the result of `initial` as its value. Rejects like `GenServer.startLink`. */
export const startLink = async <S>(parent: Pid, initial: () => Answer<S>, options?: StartOptions): Promise<Agent<S>> =>
  agentOf(await GenServer.startLink(parent, definition, initial, options))

/** Makes the spec of an agent that is the child of a supervisor. */
export const childSpec = <S, const Id extends string>(
  id: Id,
  initial: () => Answer<S>,
  options?: StartOptions,
  rules?: Rules
): ChildSpec<Id, Agent<S>> => ({
  id,
  start: (parent) => startLink(parent, initial, { label: id, ...options }),
  ...rules
})

const ask = <S, A>(
  agent: AgentTarget<S>,
  step: (state: S) => Answer<readonly [A, S]>,
  options: CallOptions | undefined
): Promise<A> => GenServer.call(holderOf(agent), step as Step, options) as Promise<A>

/**
 * Reads from the value.
 *
 * **Errors**
 *
 * Rejects with `CallExit`, like `GenServer.call`. If the function fails, the agent ends with its failure.
 */
export const get = <S, A>(agent: AgentTarget<S>, read: (state: S) => Answer<A>, options?: CallOptions): Promise<A> =>
  ask<S, A>(agent, (state) => mapAnswer(read(state), (answer) => [answer, state] as const), options)

/** Changes the value; resolves when that is done. Rejects like `get`; after a timeout the change still happens. */
export const update = <S>(
  agent: AgentTarget<S>,
  change: (state: S) => Answer<S>,
  options?: CallOptions
): Promise<void> =>
  ask<S, void>(agent, (state) => mapAnswer(change(state), (next) => [undefined, next] as const), options)

const pairOf = <A, S>(pair: readonly [A, S]): readonly [A, S] => {
  if (Array.isArray(pair) && pair.length === 2) return pair
  throw new BadReturnValue({ value: pair, expected: "the list [answer, state]" })
}

/** Changes the value and returns a result, in one step. Rejects like `get`; the reason is `BadReturnValue` for another result. */
export const getAndUpdate = <S, A>(
  agent: AgentTarget<S>,
  change: (state: S) => Answer<readonly [answer: A, state: S]>,
  options?: CallOptions
): Promise<A> => ask<S, A>(agent, (state) => mapAnswer(change(state), pairOf), options)

/** Changes the value asynchronously; does not report whether the agent exists. */
export const cast = <S>(agent: AgentTarget<S>, change: (state: S) => Answer<S>): void =>
  GenServer.cast<Step>(holderOf(agent), (state) => mapAnswer(change(state as S), (next) => [undefined, next] as const))

/** Ends an agent after its earlier requests. Rejects like `GenServer.stop`. */
export const stop = (agent: Pid | Name, reason?: ExitReason, timeout?: Timeout, from?: Pid): Promise<void> =>
  GenServer.stop(agent, reason, timeout, from)
